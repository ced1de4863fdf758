// Choosing: options, their defaults, the address that keeps them.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Declarations } from '../wasm/declarations.mjs';
import { ROOT } from '../wasm/load_octet.mjs';
import { modelBytes, quantize, sha256 } from '../wasm/octet_runs.mjs';
import { quantizeSample } from './browser.mjs';
import { onPage, program, reportOf, saved } from './on_page.mjs';
import { measured } from './page_steps.mjs';

onPage('runs again when an option changes', {}, async (page) => {
  await quantizeSample(page, 'Digits');
  await page.getByLabel('Weights in').selectOption('qint16');
  await page.getByText(/--weight-type qint16/).waitFor();
  await measured(page);
  const { bytes } = await saved(page, 'Download digits_cnn.int8.onnx');
  assert.equal(sha256(bytes), sha256(quantize('digits_cnn', { mode: 'weights', weight_type: 'qint16' }).model));
});

onPage('prepares first unless told not to', {}, async (page) => {
  await quantizeSample(page, 'Digits');
  await page.locator('.options summary').click();
  await page.getByLabel('Prepare first').uncheck();
  await page.getByText(/--no-prepare/).waitFor();
  await measured(page);
  const { bytes } = await saved(page, 'Download digits_cnn.int8.onnx');
  const [prepared, exported] = [true, false].map((prepare) => quantize('digits_cnn', { mode: 'weights', prepare }));
  assert.equal(sha256(bytes), sha256(exported.model));
  assert.notEqual(sha256(bytes), sha256(prepared.model));
});

onPage('keeps options in the address, and takes them from it', {}, async (page, { url }) => {
  await page.getByRole('button', { name: 'Digits' }).click();
  await page.getByRole('radio', { name: 'Static' }).check();
  await page.getByLabel('Ranges by').selectOption('percentile');
  await page.getByLabel('Values inside the range').fill('99.99');
  await page.locator('.options summary').click();
  const float = page.getByLabel('Leave in float', { exact: true });
  await float.fill('/conv1/Conv, op:Gemm');
  await float.press('Enter');
  await page.getByRole('button', { name: 'Leave in float: remove op:Gemm' }).waitFor();
  const hash = new URLSearchParams(new URL(page.url()).hash.slice(1));
  assert.deepEqual([...hash], [
    ['mode', 'static'], ['nodes_to_exclude', '/conv1/Conv'], ['nodes_to_exclude', 'op:Gemm'], ['method', 'percentile'],
    ['percentile', '99.99'],
  ]);
  assert.ok(page.url().startsWith(`${url}#`), 'behind the #, which is not sent');

  await page.reload();
  await page.getByRole('button', { name: 'Digits' }).click();
  assert.ok(await page.getByRole('radio', { name: 'Static' }).isChecked());
  assert.equal(await page.getByLabel('Ranges by').inputValue(), 'percentile');
  assert.equal(await page.getByLabel('Values inside the range').inputValue(), '99.99');

  await page.getByRole('button', { name: 'back to best of all' }).click();
  await page.locator('.options summary').click();
  await page.getByRole('button', { name: 'All options back to their defaults' }).click();
  assert.equal(new URL(page.url()).hash, '#mode=static');
});

onPage('leaves out of the address what it does not know, and says so', {}, async (page, { url }) => {
  await page.goto(`${url}#mode=weights&weight_type=qint9&flavour=sweet&block_size=64`);
  await page.getByRole('button', { name: 'Digits' }).click();
  await page.getByText('weight_type=qint9, flavour=sweet').waitFor();
  assert.equal(await page.getByLabel('Weights in').inputValue(), 'qint8');
  await page.locator('.options summary').click();
  assert.equal(await page.getByLabel('Block size').inputValue(), '64');
});

// One value for each, none of them the default.
const EVERY_OPTION = {
  mode: 'static', target: 'any', weight_type: 'qint16', per_channel: 'tensor', reduce_range: 'true', prepare: 'false',
  block_size: '64', nodes_to_quantize: 'op:Conv', nodes_to_exclude: '/conv1/Conv', op_types: 'Conv',
  external_data: 'true', format: 'qoperator', activation_type: 'qint8', symmetric_activations: 'true',
  round_outputs: 'true', method: 'percentile', percentile: '99', smooth_quant: '0.5', equalize: 'true',
  bias_correction: 'true', min_sqnr: '20',
};

onPage('has every option of the core but the plan', {}, async (page, { url }) => {
  const declared = new Declarations(join(ROOT, 'wasm/octet.d.ts')).keys('Options');
  assert.deepEqual(Object.keys(EVERY_OPTION).sort(), declared.filter((key) => key !== 'plan').sort());
  await page.goto(`${url}#${new URLSearchParams(EVERY_OPTION)}`);
  await page.reload();
  await page.getByRole('button', { name: 'Digits' }).click();
  await page.getByRole('radio', { name: 'Static' }).waitFor();
  assert.equal(await page.getByText(/that it does not know/).count(), 0);
  assert.deepEqual(Object.fromEntries(new URLSearchParams(new URL(page.url()).hash.slice(1))), EVERY_OPTION);
});

onPage('the verdict goes by what is chosen for it, in the address and in the command too', {}, async (page, { url }) => {
  const declared = new Declarations(join(ROOT, 'wasm/octet.d.ts')).keys('Thresholds');
  assert.deepEqual(declared.sort(), ['faster', 'min_smaller', 'min_sqnr', 'slower']);
  await page.goto(`${url}#slower=0.01`);
  await page.reload();
  await page.getByRole('button', { name: 'Digits' }).click();
  await page.locator('.options summary').click();
  assert.equal(await page.getByLabel('Verdict: slower below').inputValue(), '0.01');
  await page.getByLabel('Verdict: least shrinking').fill('5');
  await page.getByLabel('Verdict: faster above').fill('900');
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await measured(page);
  // 3.5 times smaller would be enough by itself, were it not for these.
  await page.getByRole('heading', { name: /^Don.t bother: 3\.5× smaller/ }).waitFor();
  assert.match(await page.locator('.command code').textContent(), / --min-smaller 5 --slower 0\.01 --faster 900$/);
  assert.equal(new URL(page.url()).hash, '#min_smaller=5&slower=0.01&faster=900');
  const { comparison } = JSON.parse((await saved(page, 'Report as JSON')).bytes);
  assert.equal(comparison.verdict.judgement, 'dont');
  if (existsSync(program)) {
    const line = await page.locator('.command code').textContent();
    const report = await reportOf(line, { 'digits_cnn.onnx': modelBytes('digits_cnn') });
    assert.match(report.verdict.sentence, /^Don.t bother: 3\.5× smaller/, 'natively too');
  }

  await page.getByRole('button', { name: 'All options back to their defaults' }).click();
  await page.locator('.command code').filter({ hasNotText: '--min-smaller' }).waitFor();
  await measured(page);
  await page.getByRole('heading', { name: /^(Ship it|Smaller)/ }).waitFor();
});

onPage('rounds outputs where that is asked for', {}, async (page) => {
  await page.getByRole('button', { name: 'Small GPT' }).click();
  await page.getByRole('radio', { name: 'Static' }).check();
  await page.locator('.options summary').click();
  await page.getByLabel('Round outputs').check();
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await measured(page);
  assert.match(await page.locator('.command code').textContent(), /--round-outputs/);
  const { activations } = JSON.parse((await saved(page, 'Plan as JSON')).bytes);
  const rounded = (value) => activations.some(({ tensor }) => tensor === value);
  assert.ok(rounded('/h.0/mlp/c_proj/MatMul_output_0'), 'a product that no integer node reads');
});

onPage('offers what the mode can do', {}, async (page) => {
  await page.getByRole('button', { name: 'Digits' }).click();
  const bits = () => page.getByLabel('Weights in').locator('option:enabled').allTextContents();
  await page.getByLabel('Weights in').waitFor();
  assert.equal((await bits()).length, 6);
  await page.getByRole('radio', { name: 'Dynamic' }).check();
  assert.deepEqual(await bits(), ['8 bits, signed', '8 bits, unsigned']);
  await page.getByRole('radio', { name: 'Static' }).check();
  assert.equal((await bits()).length, 4);
  await page.locator('.options summary').click();
  await page.getByLabel('Written as').selectOption('qoperator');
  await page.getByLabel('Activations in').selectOption('quint16');
  assert.equal(await page.getByLabel('Written as').inputValue(), 'qdq');
  // Choosing where it will run brings back what is quick there.
  await page.getByLabel('It will run in').selectOption('x64');
  assert.equal(await page.getByLabel('Activations in').inputValue(), 'quint8');
});
