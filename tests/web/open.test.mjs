// Opening a model: what is dropped or chosen, and what is wrong with it.
import assert from 'node:assert/strict';
import { modelBytes, quantize } from '../wasm/octet_runs.mjs';
import { onPage } from './on_page.mjs';

const file = (name, bytes) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(bytes) });

onPage('asks for missing external data by name, and goes on when it is there', {}, async (page) => {
  const split = quantize('gpt_char', { mode: 'weights', external_data: true }, { output: 'split.onnx' });
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
