// What tests of the page share: a fresh page each, what is downloaded, and the command line that must do the same.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, strangers } from './browser.mjs';
import { program } from './program.mjs';

export { program, unbuilt } from './program.mjs';

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

/** A test on a fresh page, which must end without a stray request or a complaint in the console. */
export function onPage(name, options, steps) {
  const { timeout = 180_000, skip = false, ...how } = options;
  test(name, { timeout, skip }, async () => {
    const opened = await openPage(browser, how);
    try {
      await steps(opened.page, opened);
      assert.deepEqual(strangers(opened.requests, opened.url), [], 'requests to other places');
      assert.deepEqual(opened.complaints, [], 'complaints in the console');
    } finally {
      await opened.close();
    }
  });
}

/** Clicks `button`, a name or a locator, and reads what it downloads. */
export async function saved(page, button) {
  const arrives = page.waitForEvent('download');
  await (typeof button === 'string' ? page.getByRole('button', { name: button, exact: true }) : button).click();
  const download = await arrives;
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

/** Runs `steps` in a folder with these files, which is gone afterwards. */
export async function inFolder(files, steps) {
  const folder = mkdtempSync(join(tmpdir(), 'octet-page-'));
  try {
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
    return await steps(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Types what the page shows into a shell, in a folder with these files; the bytes of what it writes. */
export function runCommand(command, files, output) {
  assert.match(command, /^octet quantize /);
  return inFolder(files, (folder) => {
    const line = command.replace(/^octet /, '"$OCTET" ');
    execFileSync('sh', ['-c', `${line} --no-verify`], {
      cwd: folder, env: { ...process.env, OCTET: program }, stdio: ['ignore', 'ignore', 'inherit'],
    });
    return readFileSync(join(folder, output));
  });
}

/** Types what the page shows into a shell, proof and all; what it reports. */
export function reportOf(command, files) {
  return inFolder(files, (folder) => {
    const line = `${command.replace(/^octet /, '"$OCTET" ')} --json`;
    const env = { ...process.env, OCTET: program };
    return JSON.parse(execFileSync('sh', ['-c', line], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1e8 }));
  });
}

/** The worst output of `candidate` against `reference` on real samples, in native ONNX Runtime, in decibels. */
export function nativeDrift(reference, candidate, data) {
  return inFolder({ 'candidate.onnx': candidate }, (folder) => {
    const words = ['compare', reference, 'candidate.onnx', '--data', data, '--json'];
    const report = JSON.parse(execFileSync(program, words, { cwd: folder, maxBuffer: 1e8 }));
    assert.ok(report.loads && report.runs && report.finite, 'loads and runs');
    return report.worst_sqnr_db;
  });
}
