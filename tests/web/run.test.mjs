// Running: the bytes of the command line, cancelling, made-up inputs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../wasm/load_octet.mjs';
import { modelBytes, modelPath, quantize, sha256 } from '../wasm/octet_runs.mjs';
import { PHONE, quantizeSample } from './browser.mjs';
import { inFolder, onPage, program, saved } from './on_page.mjs';
import { measured } from './page_steps.mjs';

const POLICY = /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/;

async function nativeBytes(name) {
  return inFolder({}, (folder) => {
    const path = join(folder, 'out.onnx'), flags = ['--mode', 'weights', '--target', 'wasm', '--no-verify'];
    execFileSync(program, ['quantize', modelPath(name), '-o', path, ...flags], { stdio: 'ignore' });
    return readFileSync(path);
  });
}

onPage('quantizes the digits to the bytes of the command line, and proves it', {}, async (page) => {
  await quantizeSample(page, 'Digits');
  const { name, bytes } = await saved(page, 'Download digits_cnn.int8.onnx');
  assert.equal(name, 'digits_cnn.int8.onnx');
  assert.equal(sha256(bytes), sha256(quantize('digits_cnn', { mode: 'weights' }).model));
  if (existsSync(program)) assert.equal(sha256(bytes), sha256(await nativeBytes('digits_cnn')));

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
  await measured(page);
  assert.match(await page.locator(':focus').textContent(), /smaller/);
});

onPage('stops when asked to, and works on afterwards', {}, async (page) => {
  await page.getByRole('button', { name: 'Small GPT' }).click();
  await page.getByRole('button', { name: 'Quantize' }).click();
  await page.getByText(/being measured/).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Not verified: it was cancelled').waitFor();
  await page.getByRole('button', { name: 'Quantize' }).click();
  await measured(page);
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
