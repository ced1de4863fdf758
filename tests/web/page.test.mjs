// The page in a real browser: what it writes, what it says, and that nothing leaves it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT } from '../wasm/load_octet.mjs';
import { modelBytes, modelPath, quantize, sha256 } from '../wasm/octet_runs.mjs';
import { launch, openPage, PHONE, quantizeSample, strangers } from './browser.mjs';

const POLICY = /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/;
const program = process.env.OCTET_EXECUTABLE ?? join(ROOT, 'build/native/octet');
const folder = mkdtempSync(join(tmpdir(), 'octet-page-'));
let browser;

before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

// A test on a fresh page, which must end without a stray request or a complaint in the console.
function onPage(name, options, steps) {
  test(name, { timeout: 180_000 }, async () => {
    const opened = await openPage(browser, options);
    try {
      await steps(opened.page, opened);
      assert.deepEqual(strangers(opened.requests, opened.url), [], 'requests to other places');
      assert.deepEqual(opened.complaints, [], 'complaints in the console');
    } finally {
      await opened.close();
    }
  });
}

async function saved(page, button) {
  const arrives = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).click();
  const download = await arrives;
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

function nativeBytes(name, output) {
  const path = join(folder, output);
  const flags = ['--mode', 'weights', '--target', 'wasm', '--no-verify', '--force'];
  execFileSync(program, ['quantize', modelPath(name), '-o', path, ...flags], { stdio: 'ignore' });
  return readFileSync(path);
}

onPage('quantizes the digits to the bytes of the command line, and proves it', {}, async (page) => {
  await quantizeSample(page, 'Digits');
  const { name, bytes } = await saved(page, 'Download digits_cnn.int8.onnx');
  assert.equal(name, 'digits_cnn.int8.onnx');
  assert.equal(sha256(bytes), sha256(quantize('digits_cnn', { mode: 'weights' }).model));
  if (existsSync(program)) assert.equal(sha256(bytes), sha256(nativeBytes('digits_cnn', name)));

  const drift = page.getByRole('img', { name: 'Drift, worst first' });
  const decibels = Number(/logits ([\d.]+) dB/.exec(await drift.getAttribute('aria-label'))[1]);
  assert.ok(decibels > 25, `${decibels} dB on real samples`);
  await page.getByText(/the speed \(.* resamples/).waitFor();

  const plan = await saved(page, 'Plan as JSON');
  assert.deepEqual(JSON.parse(plan.bytes), quantize('digits_cnn', { mode: 'weights' }).report.plan);
});

// A policy that comes as a header binds the worker too, which the page's own <meta> does not reach.
onPage('works when the server sends the same policy', { headers: policyHeader() }, async (page) => {
  await quantizeSample(page, 'Digits');
});

function policyHeader() {
  const html = readFileSync(join(ROOT, 'web/index.html'), 'utf8');
  return { 'content-security-policy': POLICY.exec(html)[1] };
}

onPage('needs no more than a keyboard, and takes the reader to the verdict', {}, async (page) => {
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  assert.match(await page.locator(':focus').textContent(), /Digits/);
  await page.keyboard.press('Enter');
  await page.getByRole('radio', { name: 'Weights only' }).focus();
  await page.keyboard.press('ArrowRight');
  assert.ok(await page.getByRole('radio', { name: 'Dynamic' }).isChecked());
  await page.keyboard.press('Enter');
  await page.getByText('Measured with').waitFor();
  assert.match(await page.locator(':focus').textContent(), /smaller/);
});

onPage('runs again when an option changes', {}, async (page) => {
  await quantizeSample(page, 'Digits');
  await page.getByLabel('Weights in').selectOption('qint16');
  await page.getByText(/--weight-type qint16/).waitFor();
  await page.getByText('Measured with').waitFor();
  const { bytes } = await saved(page, 'Download digits_cnn.int8.onnx');
  assert.equal(sha256(bytes), sha256(quantize('digits_cnn', { mode: 'weights', weight_type: 'qint16' }).model));
});

onPage('prepares first unless told not to', {}, async (page) => {
  await quantizeSample(page, 'Digits');
  await page.getByLabel('Prepare').selectOption('none');
  await page.getByText(/--no-prepare/).waitFor();
  await page.getByText('Measured with').waitFor();
  const { bytes } = await saved(page, 'Download digits_cnn.int8.onnx');
  const [prepared, exported] = [true, false].map((prepare) => quantize('digits_cnn', { mode: 'weights', prepare }));
  assert.equal(sha256(bytes), sha256(exported.model));
  assert.notEqual(sha256(bytes), sha256(prepared.model));
});

onPage('stops when asked to, and works on afterwards', {}, async (page) => {
  await page.getByRole('button', { name: 'Small GPT' }).click();
  await page.getByRole('button', { name: 'Quantize' }).click();
  await page.getByText(/being measured/).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Not verified: it was cancelled').waitFor();
  await page.getByRole('button', { name: 'Quantize' }).click();
  await page.getByText('Measured with').waitFor();
});

onPage('asks for missing external data by name, and goes on when it is there', {}, async (page) => {
  const split = quantize('gpt_char', { mode: 'weights', external_data: true }, { output: 'split.onnx' });
  const file = (name, bytes) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(bytes) });
  await page.locator('input[type=file]').setInputFiles([file('split.onnx', split.model)]);
  await page.getByRole('alert').getByText(/“split\.onnx\.data”.* is missing/).waitFor();
  await page.getByRole('alert').locator('input[type=file]').setInputFiles([file('split.onnx.data', split.external)]);
  await page.getByRole('button', { name: 'Quantize' }).click();
  await page.getByText('Measured with').waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
});

onPage('says what is wrong with a file that is no model', {}, async (page) => {
  const buffer = Buffer.from(modelBytes('gpt_char').subarray(0, 5000));
  await page.locator('input[type=file]').setInputFiles([{ name: 'cut.onnx', mimeType: '', buffer }]);
  assert.match(await page.getByRole('alert').textContent(), /cut\.onnx/);
  assert.equal(await page.getByRole('button', { name: 'Quantize' }).count(), 0);
});

onPage('makes inputs up where there are no samples, and says so', {}, async (page) => {
  const buffer = Buffer.from(modelBytes('gpt_char'));
  await page.locator('input[type=file]').setInputFiles([{ name: 'mine.onnx', mimeType: '', buffer }]);
  await page.getByRole('button', { name: 'Quantize' }).click();
  await page.getByText(/On 2 synthetic samples, seed 1/).waitFor();
});

onPage('fits a phone', { viewport: PHONE }, async (page) => {
  const widths = () => page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  const [empty, room] = await widths();
  assert.ok(empty <= room, `${empty} pixels in ${room}`);
  await quantizeSample(page, 'Small GPT');
  const [full] = await widths();
  assert.ok(full <= room, `${full} pixels in ${room}`);
});
