// Samples: what static mode learns from and what is checked on, real or made up.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../wasm/load_octet.mjs';
import { modelBytes, modelPath } from '../wasm/octet_runs.mjs';
import { nativeDrift, onPage, saved, unbuilt } from './on_page.mjs';

const data = (name, part) => join(ROOT, 'tests/data', name, part);
const samplesOf = (name, part) => {
  const folder = data(name, part);
  return readdirSync(folder).filter((file) => file.endsWith('.npz')).map((file) => join(folder, file));
};
const file = (name, bytes) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(bytes) });

const area = (page, name) => page.getByRole('region', { name });
const choose = (page, name, files) => area(page, name).locator('input[type=file]').first().setInputFiles(files);

async function openBare(page) {
  await page.locator('input[type=file]').first().setInputFiles([file('mine.onnx', modelBytes('digits_cnn'))]);
  await page.getByRole('radio', { name: 'Static' }).check();
}

onPage('quantizes the digits statically with the samples that come with them', { skip: unbuilt }, async (page) => {
  await page.getByRole('button', { name: 'Digits' }).click();
  await page.getByRole('radio', { name: 'Static' }).check();
  await area(page, 'Samples to learn ranges from').getByText('8 samples: enough to try').waitFor();
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await page.getByText('Measured with').waitFor();
  await page.getByText('Ranges from 8 samples from 8 files').waitFor();
  const { bytes } = await saved(page, 'Download digits_cnn.int8.onnx');
  const decibels = await nativeDrift(modelPath('digits_cnn'), bytes, data('digits_cnn', 'eval'));
  assert.ok(decibels > 25, `${decibels} dB`);
});

onPage('takes dropped samples, says that they are few, and quantizes with them', { skip: unbuilt }, async (page) => {
  await openBare(page);
  await page.getByRole('button', { name: 'Add samples to quantize' }).click();
  assert.match(await page.locator(':focus').textContent(), /Choose files/);
  await choose(page, 'Samples to learn ranges from', samplesOf('digits_cnn', 'calib').slice(0, 5));
  await page.getByText('5 samples: enough to try').waitFor();
  await choose(page, 'Samples to check on', samplesOf('digits_cnn', 'eval'));
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await page.getByText('Measured with').waitFor();
  await page.getByText('Ranges from 5 samples').waitFor();
  const { bytes } = await saved(page, 'Download mine.int8.onnx');
  const decibels = await nativeDrift(modelPath('digits_cnn'), bytes, data('digits_cnn', 'eval'));
  assert.ok(decibels > 20, `${decibels} dB`);
});

onPage('offers made-up inputs where static mode has none, and calls them that', {}, async (page) => {
  await openBare(page);
  await page.getByRole('button', { name: 'use made-up inputs', exact: true }).click();
  await page.getByText('Ranges of made-up inputs say little of real ones').waitFor();
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await page.getByText('Measured with').waitFor();
  await page.getByText('whose ranges say little of real ones').waitFor();
  await area(page, 'Samples to learn ranges from').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Add samples to quantize' }).waitFor();
});

onPage('says what is wrong with a sample', {}, async (page) => {
  await openBare(page);
  await choose(page, 'Samples to learn ranges from', samplesOf('gpt_char', 'calib').slice(0, 1));
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await page.getByRole('alert').getByText(/image/).first().waitFor();
});
