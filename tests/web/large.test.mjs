// A model of 3 GB in the page: quantized from the disk to the disk, in a tab that never holds it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterEach, test } from 'node:test';
import { ROOT } from '../wasm/load_octet.mjs';
import { launch, openPage, persistent, strangers } from './browser.mjs';
import { peakTabMemory } from './tab_memory.mjs';
import { measured } from './page_steps.mjs';

const MOST_BYTES = 1.5e9, MINUTES = 60_000;
const program = process.env.OCTET_BIN ?? join(ROOT, 'build/native/octet');
const folder = mkdtempSync(join(tmpdir(), 'octet-large-'));
const model = join(folder, 'model.onnx');
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(...words) {
  mkdirSync(folder, { recursive: true });
  execFileSync(process.env.OCTET_PYTHON ?? 'python3', [join(ROOT, 'tests/support/large_model.py'), folder, ...words]);
}

async function sha256(path) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

test('weights of 3 GB become small in a tab below 1.5 GB', { timeout: 8 * MINUTES }, async () => {
  write('3');
  const browser = await persistent(join(folder, 'profile'));
  const opened = await openPage(browser);
  const { page } = opened;
  try {
    page.setDefaultTimeout(3 * MINUTES);
    await page.locator('input[type=file]').first().setInputFiles([model, `${model}.data`]);
    await page.getByText('805 million').waitFor();
    await page.getByRole('radio', { name: 'Weights only' }).check();

    // Folded weights would be 4 GB once loaded: said before anything runs, with the form that stays small.
    const note = page.getByRole('note').filter({ hasText: /4\.03 GB.*more than a browser/ });
    await note.waitFor();
    await note.getByRole('button', { name: 'Store in blocks' }).click();
    await note.waitFor({ state: 'hidden' });

    await page.getByRole('button', { name: 'Quantize' }).click();
    await page.getByRole('heading', { name: /Not verified/ }).waitFor();
    const arrives = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download model.int8.onnx', exact: true }).click();
    const downloaded = await sha256(await (await arrives).path());
    const peak = peakTabMemory();
    process.stdout.write(`# peak memory of the tab: ${(peak / 1e6).toFixed(0)} MB for a model of 3221 MB\n`);
    assert.ok(peak < MOST_BYTES, `${peak} bytes`);

    const output = join(folder, 'model.int8.onnx');
    const flags = ['--mode', 'weights', '--target', 'wasm', '--block-size', '32', '--no-verify'];
    execFileSync(program, ['quantize', model, '-o', output, ...flags], { stdio: 'ignore' });
    assert.equal(downloaded, await sha256(output));
    assert.deepEqual(strangers(opened.requests, opened.url), []);
  } finally {
    await opened.close();
    await browser.close();
  }
});

test('a matrix that no page can hold is an error in words, and the page works on', { timeout: 6 * MINUTES }, async () => {
  write('--one', '3.9');
  const browser = await launch(), opened = await openPage(browser);
  const { page } = opened;
  try {
    page.setDefaultTimeout(3 * MINUTES); // that much is copied before it is read
    await page.locator('input[type=file]').first().setInputFiles([model, `${model}.data`]);
    const alert = page.getByRole('alert').first();
    await alert.waitFor();
    assert.match(await alert.textContent(), /does not fit.*memory.*command line/s);
    await page.getByRole('button', { name: 'Another model' }).click();
    await page.getByRole('button', { name: 'Digits' }).click();
    await page.getByRole('button', { name: 'Quantize', exact: true }).click();
    await measured(page);
    assert.deepEqual(strangers(opened.requests, opened.url), []);
  } finally {
    await opened.close();
    await browser.close();
  }
});
