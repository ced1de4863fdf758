// Where a run loses: layers sorted by error, one of them in detail, kept in float and run again.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../wasm/load_octet.mjs';
import { modelPath } from '../wasm/octet_runs.mjs';
import { PHONE } from './browser.mjs';
import { inFolder, onPage, program, saved, unbuilt } from './on_page.mjs';
import { area, findLayers as findLayersOf, measured, quantizeIn } from './page_steps.mjs';

const strip = (page) => page.getByRole('img', { name: /layers; / });
const detail = (page) => page.locator('.layer-detail');
const list = (page) => area(page, 'Layers and what each loses');

async function findLayers(page, title, mode) {
  await page.getByRole('button', { name: title }).click();
  await quantizeIn(page, mode);
  await measured(page);
  await findLayersOf(page);
}

// "24.3 dB" and the like, row by row.
const column = async (page, index) => {
  const texts = await list(page).getByRole('row').evaluateAll((rows, at) =>
    rows.slice(1).map((row) => row.querySelectorAll('td')[at].textContent), index);
  return texts.filter((text) => text !== '–').map((text) => (text === 'equal' ? 200 : Number(text.replace(' dB', ''))));
};

const sorted = (numbers) => numbers.every((value, i) => i === 0 || numbers[i - 1] <= value);

onPage('lists the layers of a static run as the command line does, worst first', { skip: unbuilt }, async (page) => {
  await findLayers(page, 'Digits', 'Static');
  const own = await column(page, 0);
  assert.ok(own.length >= 5 && sorted(own), `${own}`);

  const report = JSON.parse((await saved(page, 'Report as JSON')).bytes);
  const model = await saved(page, 'Download digits_cnn.int8.onnx');
  const samples = join(ROOT, 'tests/data/digits_cnn/eval');
  const native = await inFolder({ 'static.onnx': model.bytes }, (folder) => JSON.parse(execFileSync(
    program, ['compare', modelPath('digits_cnn'), 'static.onnx', '--data', samples, '--layers', '--json'], { cwd: folder },
  )).layers);
  assert.deepEqual(
    report.layers.values.map(({ value }) => value).sort(), native.values.map(({ value }) => value).sort(), 'the same values');
  const at = (layers, name) => layers.values.find(({ value }) => value === name).xmodel_err.sqnr_db;
  for (const { value } of native.values) {
    assert.ok(Math.abs(at(report.layers, value) - at(native, value)) < 3, `${value}: ${at(report.layers, value)} dB`);
  }
});

onPage('sorts by what is asked for, and draws that', {}, async (page) => {
  await findLayers(page, 'Digits', 'Static');
  await page.getByLabel('Sorted by').selectOption({ label: 'all error up to there' });
  assert.ok(sorted(await column(page, 2)));
  assert.match(await page.locator('.strip .chart-note').textContent(), /^Bars: all error up to there/);
  await page.getByLabel('Sorted by').selectOption({ label: 'place in the model' });
  assert.match(await list(page).getByRole('row').nth(1).textContent(), /image/, 'the input comes first');
});

onPage('shows the weights and values of a layer, with the range that the plan has for them', {}, async (page) => {
  await findLayers(page, 'Digits', 'Static');
  await list(page).getByRole('button', { name: '/Relu_1' }).click();
  await detail(page).getByRole('heading', { name: '/Relu_1' }).waitFor();
  assert.equal(await page.locator(':focus').textContent(), '/Relu_1', 'the reader is taken there');
  const weights = await detail(page).getByRole('img', { name: /^Values from −/ }).first().getAttribute('aria-label');
  assert.match(weights, /^Values from −[\d.]+ to [\d.]+$/);
  await detail(page).getByText('Channels of conv2.weight', { exact: true }).waitFor();

  const { plan } = JSON.parse((await saved(page, 'Report as JSON')).bytes);
  const { low, high } = plan.activations.find(({ tensor }) => tensor === '/Relu_1_output_0');
  const range = detail(page).getByRole('img', { name: `range ${low} to ${Number(high.toPrecision(3))}` });
  await range.waitFor();
  await detail(page).getByText(/outside it: /).waitFor();
});

onPage('a bar that is tapped opens its layer', {}, async (page) => {
  await findLayers(page, 'Digits', 'Weights only');
  const area = page.locator('.strip .catch'), { width, height } = await area.boundingBox();
  await area.click({ position: { x: width * 0.02, y: height / 2 } });
  const worst = await list(page).getByRole('row').nth(1).getByRole('button').textContent();
  assert.ok(worst.startsWith(await detail(page).getByRole('heading').textContent()), `${worst} is the worst`);
});

onPage('keeps a layer in float and runs again', {}, async (page) => {
  await findLayers(page, 'Digits', 'Static');
  await list(page).getByRole('button', { name: '/fc2/Gemm' }).click();
  await detail(page).getByRole('button', { name: 'Keep in float and run again' }).click();
  await page.locator('.command code', { hasText: '--nodes-to-exclude /fc2/Gemm' }).waitFor();
  await measured(page);
  const { plan } = JSON.parse((await saved(page, 'Report as JSON')).bytes);
  assert.equal(plan.nodes.find(({ node }) => node === '/fc2/Gemm').action, 'keep');
  const rows = page.getByRole('table', { name: 'Runs' }).getByRole('row');
  assert.match(await rows.nth(1).textContent(), /in float \/fc2\/Gemm/);
  assert.equal(await rows.count(), 3, 'a run of its own, beside the one before');
});

onPage('looks into a transformer, on a phone', { viewport: PHONE, colorScheme: 'dark' }, async (page) => {
  await findLayers(page, 'Small GPT', 'Dynamic');
  assert.ok((await column(page, 0)).length > 10);
  await list(page).getByRole('button').first().click();
  await detail(page).getByRole('heading').waitFor();
  await detail(page).getByRole('img').first().waitFor();
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= room, `${wide} pixels in ${room}`);
});

