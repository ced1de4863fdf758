// The page under `octet serve`: native figures come by themselves, or when they are asked for, and stay on this computer.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../wasm/load_octet.mjs';
import { modelBytes, modelPath, sha256 } from '../wasm/octet_runs.mjs';
import { inFolder, onPage, program, saved, unbuilt } from './on_page.mjs';
import { native, nativeFigures, sameAsReport, wholeReport } from './native_report.mjs';
import { area, fileOf, measured, quantizeIn, rows } from './page_steps.mjs';
import { serveOctet } from './serve_octet.mjs';

const SERVED = { skip: unbuilt, serve: serveOctet };

const ask = (page) => page.getByRole('button', { name: 'Measure natively', exact: true, disabled: false });

const timing = (page) => native(page).getByText('Being timed natively');

// Whether the small GPT is timed unasked depends on how busy the machine is: what took long in the browser waits.
async function begun(page) {
  await timing(page).or(ask(page)).or(nativeFigures(page)).first().waitFor();
  if (await ask(page).count() > 0) await ask(page).click();
}

async function idle({ ask }) {
  for (let tries = 0; tries < 100; ++tries) {
    if (!(await (await ask('status')).json()).busy) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail('the server is still at work');
}

for (const [title, mode] of [['Digits', 'Weights only'], ['Digits', 'Static'], ['Small GPT', 'Dynamic']]) {
  const how = title === 'Digits' ? ' by themselves' : '';
  onPage(`${title}, ${mode}: browser and native columns fill${how}, and ratios are those of the JSON`, SERVED, async (page, { server, requests }) => {
    assert.equal(new URL(page.url()).hash, '', 'the token is taken out of the address');
    await page.getByText('Served by octet on this computer').waitFor();
    await page.getByRole('button', { name: title }).click();
    await quantizeIn(page, mode);
    await measured(page);
    if (title !== 'Digits') await begun(page);
    await nativeFigures(page).waitFor();
    const { bench } = (await wholeReport(page)).native;
    const kept = await sameAsReport(page, bench, 'octet serve');
    assert.equal(kept.browser_to_native.machines, 'same');
    await native(page).getByText(/both ran on this computer/).waitFor();
    assert.equal(bench.synthetic, false);
    assert.deepEqual([...new Set(bench.rows.map(({ name }) => name))].map((name) => name.replace(/^.*?(\.int8)?\.onnx$/, '$1')), ['', '.int8']);
    assert.match(await rows(page).first().locator('.of-native').textContent(), /[\d.]+×/);

    // What went to the server stayed there no longer than it took.
    assert.ok(requests.some((request) => request.startsWith(`${server.url}api/files/`)));
    assert.ok(requests.every((request) => !request.includes(server.token)), 'the token is in no address');
    await idle(server);
    const again = await server.ask(`files/${bench.rows[0].name}`, { method: 'DELETE' });
    assert.equal(again.status, 404, 'the float model is not kept there');
  });
}

onPage('says what the server judged, beside what the browser did', SERVED, async (page) => {
  await page.getByRole('button', { name: 'Digits' }).click();
  await quantizeIn(page, 'Weights only');
  await nativeFigures(page).waitFor();
  const { bench } = (await wholeReport(page)).native;
  const { sentence } = bench.rows[1].verdict;
  const said = await native(page).locator('.verdicts').textContent();
  assert.ok(said.includes(`Natively${sentence.replace(/ (faster|slower|before) here/, ' $1')}`), said);
  assert.match(said, /^In this browser/);
});

onPage('cancels in the middle, ends the work on the server too, and measures when asked again', SERVED, async (page, { server }) => {
  await page.getByRole('button', { name: 'Small GPT' }).click();
  await quantizeIn(page, 'Weights only');
  await begun(page);
  await timing(page).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await ask(page).waitFor();
  await idle(server);
  assert.equal(await nativeFigures(page).count(), 0);
  assert.equal(await page.getByRole('alert').count(), 0, 'who cancels need not be told that it failed');
  await page.getByText('Measured with').waitFor();

  await ask(page).click();
  await nativeFigures(page).waitFor();
});

onPage('works on after a reload, and says so when the server is gone', SERVED, async (page, { server, complaints }) => {
  await page.reload();
  await page.getByText('Served by octet on this computer').waitFor();
  await page.locator('input[type=file]').first().setInputFiles([fileOf('mine é.onnx', modelBytes('digits_cnn'))]);
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await nativeFigures(page).waitFor();
  const { native: kept } = await wholeReport(page);
  assert.deepEqual([...new Set(kept.bench.rows.map(({ name }) => name))], ['mine é.onnx', 'mine é.int8.onnx'], 'called as they are here');
  assert.equal(kept.bench.synthetic, true);
  await server.close();
  await native(page).getByRole('button', { name: 'Measure natively again' }).click();
  await native(page).getByRole('alert').filter({ hasText: 'octet serve does not answer' }).waitFor();
  assert.equal(await nativeFigures(page).count(), 1, 'what was measured stays');
  for (const complaint of complaints.splice(0)) assert.match(complaint, /ERR_CONNECTION_REFUSED/);
});

onPage('without the token it is a page like any other', { ...SERVED, serve: async () => {
  const server = await serveOctet();
  return { ...server, opened: server.url };
} }, async (page) => {
  await page.getByText('Nothing is uploaded').waitFor();
  await page.getByRole('button', { name: 'Digits' }).click();
  await quantizeIn(page, 'Weights only');
  await measured(page);
  await native(page).getByText('octet bench').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Measure natively' }).count(), 0);
});

const CALIB = join(ROOT, 'tests/data/digits_cnn/calib');

onPage('learns ranges natively from a folder of the server’s, and gives the bytes of the command line', {
  ...SERVED, serve: () => serveOctet('--calib', CALIB),
}, async (page, { server }) => {
  await page.locator('input[type=file]').first().setInputFiles([fileOf('digits_cnn.onnx', modelBytes('digits_cnn'))]);
  await page.getByText('Static', { exact: true }).first().click();
  const samples = area(page, 'Samples to learn ranges from');
  await samples.getByRole('button', { name: 'Use calib of octet serve' }).click();
  await samples.getByText('octet serve reads calib itself').waitFor();
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await measured(page);
  await page.getByText(/samples of calib, natively/).first().waitFor();
  const { bytes } = await saved(page, 'Download digits_cnn.int8.onnx');
  const there = await inFolder({}, (folder) => {
    const words = ['quantize', modelPath('digits_cnn'), '-o', 'out.onnx', '--target', 'wasm', '--no-verify', '--calib', CALIB];
    execFileSync(program, words, { cwd: folder, stdio: 'ignore' });
    return readFileSync(join(folder, 'out.onnx'));
  });
  assert.equal(sha256(bytes), sha256(there));
  await idle(server);
});
