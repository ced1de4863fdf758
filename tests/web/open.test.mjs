// Opening a model: what is dropped or chosen, and what is wrong with it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../wasm/load_octet.mjs';
import { modelBytes, quantize } from '../wasm/octet_runs.mjs';
import { onPage } from './on_page.mjs';
import { fileOf, hand, measured } from './page_steps.mjs';

onPage('asks for missing external data by name, and goes on when it is there', {}, async (page) => {
  const split = quantize('gpt_char', { mode: 'weights', external_data: true }, { output: 'split.onnx' });
  await page.locator('input[type=file]').setInputFiles([fileOf('split.onnx', split.model)]);
  await page.getByRole('alert').getByText(/“split\.onnx\.data”.* is missing/).waitFor();
  await page.getByRole('alert').locator('input[type=file]').setInputFiles([fileOf('split.onnx.data', split.external)]);
  await page.getByRole('button', { name: 'Quantize' }).click();
  await measured(page);
  assert.equal(await page.getByRole('alert').count(), 0);
});

onPage('starts the runtime while a model is looked at, and not before', {}, async (page, { context, requests }) => {
  const isRuntime = (url) => /ort-wasm[^/]*\.wasm$/.test(url);
  assert.equal(requests.filter(isRuntime).length, 0);
  const asked = context.waitForEvent('request', { predicate: (request) => isRuntime(request.url()) });
  await page.locator('input[type=file]').setInputFiles([fileOf('digits.onnx', modelBytes('digits_cnn'))]);
  await asked;
  assert.equal(await page.getByText('Measured with').count(), 0, 'nothing has run');
});

onPage('says what is wrong with a file that is no model', {}, async (page) => {
  const buffer = Buffer.from(modelBytes('gpt_char').subarray(0, 5000));
  await page.locator('input[type=file]').setInputFiles([{ name: 'cut.onnx', mimeType: '', buffer }]);
  assert.match(await page.getByRole('alert').textContent(), /cut\.onnx/);
  assert.equal(await page.getByRole('button', { name: 'Quantize' }).count(), 0);
  await page.locator('input[type=file]').setInputFiles([fileOf('whole', modelBytes('gpt_char'))]);
  await page.getByRole('button', { name: 'Quantize', exact: true }).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
});

onPage('says what is wrong with a file of another kind, and takes a model afterwards', {}, async (page) => {
  const input = page.locator('input[type=file]').first();
  const notes = Buffer.from('Dear reader,\nthis is no model.\n'), picture = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  for (const [name, buffer] of [['notes.txt', notes], ['cat.png', picture], ['nothing.onnx', Buffer.alloc(0)]]) {
    await input.setInputFiles([{ name, mimeType: '', buffer }]);
    await page.getByRole('alert').filter({ hasText: name }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Quantize' }).count(), 0, name);
  }
  await input.setInputFiles([fileOf('whole.onnx', modelBytes('digits_cnn'))]);
  await page.getByRole('button', { name: 'Quantize', exact: true }).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
});

onPage('takes a pasted model', {}, async (page) => {
  await hand(page, 'paste', [fileOf('pasted.onnx', modelBytes('digits_cnn'))]);
  await page.getByRole('heading', { name: 'pasted.onnx' }).waitFor();
  await page.getByRole('button', { name: 'Quantize', exact: true }).waitFor();
});

onPage('takes a drop of a model with its external data and samples', {}, async (page) => {
  const split = quantize('digits_cnn', { mode: 'weights', external_data: true }, { output: 'split.onnx' });
  const sample = readFileSync(join(ROOT, 'tests/data/digits_cnn/eval/0000.npz'));
  const files = [fileOf('0000.npz', sample), fileOf('split.onnx.data', split.external), fileOf('split.onnx', split.model)];
  await hand(page, 'drop', files);
  await page.getByRole('heading', { name: 'split.onnx' }).waitFor();
  await page.getByRole('region', { name: 'Samples to check on' }).getByText('1 file', { exact: true }).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
});

onPage('shows where the bytes are and what becomes of them', {}, async (page) => {
  await page.getByRole('button', { name: 'Digits' }).click();
  const strip = page.getByRole('listbox', { name: 'Weights by layer' });
  await strip.waitFor();
  const { sizes, plan } = quantize('digits_cnn', { mode: 'weights' }).report;
  await page.getByRole('heading', { name: /81\.1 KB would become 23\.5 KB/ }).waitFor();
  const fates = () => strip.getByRole('option').evaluateAll((all) => all.map((one) => one.getAttribute('class').trim()));
  assert.ok((await fates()).includes('stored') && (await fates()).includes('float'));
  // Each as wide as it is large.
  const share = await strip.getByRole('option', { name: /^fc1\.weight/ }).evaluate(
    (piece) => piece.width.baseVal.value / piece.ownerSVGElement.viewBox.baseVal.width);
  const bytes = plan.tensors.find(({ tensor }) => tensor === 'fc1.weight').bytes;
  assert.ok(Math.abs(share - bytes / sizes.float_weight_bytes) < 0.01, `${share}`);

  await strip.press('End');
  await strip.press('ArrowLeft');
  await page.locator('.detail strong').waitFor();
  await page.getByRole('radio', { name: 'Static' }).check();
  await page.getByRole('heading', { name: /would become 28\.2 KB/ }).waitFor();
  assert.ok((await fates()).includes('integers'));

  // What is left in float from here is so at once.
  await strip.getByRole('option', { name: /^fc1\.weight/ }).click();
  await page.getByRole('button', { name: 'Leave it in float' }).click();
  await strip.getByRole('option', { name: /^fc1\.weight.*left in float/ }).waitFor();
});

onPage('says what contradicts before anything is run', {}, async (page, { url }) => {
  await page.goto(`${url}#nodes_to_exclude=no_such_node`);
  await page.getByRole('button', { name: 'Digits' }).click();
  await page.getByRole('alert').getByText(/no_such_node/).waitFor();
});
