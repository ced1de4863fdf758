// Made-up inputs: their seed, sizes and values, in the address and in the commands, and what they come to.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { modelBytes } from '../wasm/octet_runs.mjs';
import { onPage, program, reportOf, saved } from './on_page.mjs';
import { area, fileOf, measured, quantizeIn } from './page_steps.mjs';

async function openMine(page) {
  await page.locator('input[type=file]').first().setInputFiles([fileOf('mine.onnx', modelBytes('gpt_char'))]);
  await page.getByText('How inputs are made up').click();
}

async function add(page, label, entry) {
  await page.getByLabel(label, { exact: true }).fill(entry);
  await page.getByLabel(label, { exact: true }).press('Enter');
}

const command = (page) => page.locator('.command code').textContent();

onPage('inputs are made up as is chosen, and as the command that is shown makes them', {}, async (page) => {
  await openMine(page);
  await page.getByLabel('Seed', { exact: true }).fill('7');
  await add(page, 'Sizes', 'seq=24');
  await page.getByRole('button', { name: 'Sizes: remove seq=24' }).waitFor();
  assert.equal(new URL(page.url()).hash, '#seed=7&dims=seq%3D24');
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await page.getByText(/On 2 synthetic samples, seed 7: idx int64 \[1,24\], ids from/).waitFor();
  await measured(page);
  const line = await command(page);
  assert.match(line, / --mode weights --target wasm --seed 7 --dim seq=24$/);
  const bench = await area(page, 'Natively').locator('code').textContent();
  assert.match(bench, /^octet bench mine\.onnx mine\.int8\.onnx --seed 7 --dim seq=24 --json/);
  const { comparison } = JSON.parse((await saved(page, 'Report as JSON')).bytes);
  if (existsSync(program)) {
    const report = await reportOf(line, { 'mine.onnx': modelBytes('gpt_char') });
    assert.ok(JSON.stringify(report).includes(JSON.stringify(comparison.samples.description)), comparison.samples.description);
  }

  await add(page, 'Values', 'idx=5');
  await page.getByText(/On 2 synthetic samples, seed 7: idx int64 \[1,24\], as given/).waitFor();
  await measured(page);
  assert.match(await command(page), / --seed 7 --dim seq=24 --fix idx=5$/);
});

onPage('they are asked for where inputs are made up alone, and are no part of a command on samples', {}, async (page, { url }) => {
  await page.goto(`${url}#seed=7&dims=sideways&fixed=image%3D0.5`);
  await page.getByRole('button', { name: 'Digits' }).click();
  await page.getByText('dims=sideways').waitFor();
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await measured(page);
  assert.doesNotMatch(await command(page), /--seed|--fix/);
  assert.equal(await page.getByText('How inputs are made up').count(), 0);
  await area(page, 'Samples to check on').getByRole('button', { name: 'Remove' }).click();
  await area(page, 'Samples to check on').getByText(/on the samples that ranges come from|made-up inputs/).waitFor();
});

onPage('what does not fit the model is said in words', {}, async (page) => {
  await openMine(page);
  const sizes = page.getByLabel('Sizes', { exact: true });
  await add(page, 'Sizes', 'idx=many');
  assert.equal(await sizes.evaluate((input) => input.validity.customError), true);
  assert.equal(new URL(page.url()).hash, '');
  await add(page, 'Sizes', 'width=3');
  await page.getByRole('button', { name: 'Sizes: remove width=3' }).waitFor();
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await page.getByRole('heading', { name: /Not verified: dimension 'width': no input has a dimension of this name/ }).waitFor();

  await page.getByRole('radio', { name: 'Static' }).check();
  await page.getByRole('button', { name: 'use made-up inputs', exact: true }).click();
  const place = area(page, 'Samples to learn ranges from');
  await place.getByRole('alert').filter({ hasText: "dimension 'width': no input has a dimension of this name." }).waitFor();
  await page.getByRole('button', { name: 'Sizes: remove width=3' }).click();
  await place.getByText(/16 synthetic samples, seed 1/).waitFor();
});

onPage('ranges are learned anew where other inputs are made up', {}, async (page) => {
  await openMine(page);
  await page.getByRole('radio', { name: 'Static' }).check();
  await page.getByRole('button', { name: 'use made-up inputs', exact: true }).click();
  await quantizeIn(page, 'Static');
  await measured(page);
  const ranges = async () => (await saved(page, 'Ranges as JSON')).bytes.toString();
  const first = await ranges();
  await page.getByLabel('Seed', { exact: true }).fill('7');
  await page.getByLabel('Seed', { exact: true }).blur();
  await page.getByText(/On \d+ synthetic samples, seed 7/).waitFor();
  await measured(page);
  assert.notEqual(await ranges(), first);
});
