// A plan that is given: taken by drop or picker, what it holds, what it decides, and the bytes that it gives again.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rangesOf } from '../wasm/calibrated.mjs';
import { modelBytes, octet, quantize, sha256 } from '../wasm/octet_runs.mjs';
import { PHONE } from './browser.mjs';
import { onPage, program, runCommand, saved } from './on_page.mjs';
import { area, fileOf, hand, measured, quantizeIn } from './page_steps.mjs';

const NAME = 'digits_cnn.int8.plan.json';
const asFile = (plan, name = NAME) => fileOf(name, Buffer.from(JSON.stringify(plan)));
const digitsPlan = (options = { mode: 'weights' }) => quantize('digits_cnn', options).report.plan;
const planFile = (page, name = NAME) => area(page, `Plan: ${name}`);
const command = (page) => page.locator('.command code').textContent();
const pick = (page, file) => page.locator('.plan-picker input[type=file]').setInputFiles([file]);

async function openDigits(page) {
  await page.getByRole('button', { name: /^Digits/ }).click();
  await page.getByRole('button', { name: 'Quantize', exact: true }).waitFor();
}

onPage('the plan of a static run, dropped, gives the same bytes, in the page and by the command it shows', {}, async (page) => {
  await openDigits(page);
  await quantizeIn(page, 'Static');
  await measured(page);
  const first = await saved(page, 'Download digits_cnn.int8.onnx'), plan = await saved(page, 'Plan as JSON');
  assert.equal(plan.name, NAME);

  await page.getByRole('button', { name: 'Another model' }).click();
  await openDigits(page);
  await page.getByRole('radio', { name: 'Weights only' }).check();
  await hand(page, 'drop', [fileOf(plan.name, plan.bytes)]);
  await planFile(page).waitFor();
  const words = await planFile(page).textContent();
  assert.match(words, /Mode static, for wasm: \d+ nodes? static/);
  assert.match(words, /It is calibrated/);
  assert.equal(new URL(page.url()).hash, '', 'a plan is data, and not in the address');
  assert.equal(await area(page, 'Samples to learn ranges from').count(), 0, 'there is nothing to learn');

  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await measured(page);
  const again = await saved(page, 'Download digits_cnn.int8.onnx');
  assert.equal(sha256(again.bytes), sha256(first.bytes));
  assert.notEqual(sha256(again.bytes), sha256(quantize('digits_cnn', { mode: 'weights' }).model), 'not what was chosen');
  const line = await command(page);
  assert.equal(line, `octet quantize digits_cnn.onnx -o digits_cnn.int8.onnx --mode static --target wasm --plan ${NAME}`);
  if (!existsSync(program)) return;
  const files = { 'digits_cnn.onnx': modelBytes('digits_cnn'), [plan.name]: plan.bytes };
  assert.equal(sha256(await runCommand(line, files, 'digits_cnn.int8.onnx')), sha256(first.bytes));
});

onPage('what the plan decides cannot be chosen, with the reason, until it is removed', {}, async (page) => {
  await openDigits(page);
  await pick(page, asFile(digitsPlan({ mode: 'dynamic' })));
  await planFile(page).getByText(/Mode dynamic, .*It needs no ranges/).waitFor();
  for (const mode of ['Weights only', 'Dynamic', 'Static', 'Automatic']) {
    assert.ok(await page.getByRole('radio', { name: mode }).isDisabled(), mode);
  }
  assert.ok(await page.getByRole('radio', { name: 'Dynamic' }).isChecked());
  await page.getByText(`Decided by the plan. Remove ${NAME} to choose a mode.`).waitFor();
  await page.locator('.options summary').click();
  for (const label of ['It will run in', 'Weights in', 'Scales', 'Leave in float', 'Prepare first', 'Floor of quality, in dB']) {
    const field = page.getByLabel(label, { exact: true });
    assert.ok(await field.isDisabled(), label);
    assert.equal(await field.inputValue(), 'by the plan');
    const help = await field.getAttribute('aria-describedby');
    assert.equal(await page.locator(`[id="${help}"]`).textContent(), `Decided by the plan. Remove ${NAME} to choose.`);
  }
  assert.ok(await page.getByLabel('External data').isEnabled(), 'which a plan leaves open');

  await planFile(page).getByRole('button', { name: 'Remove' }).click();
  await planFile(page).waitFor({ state: 'detached' });
  assert.ok(await page.getByRole('radio', { name: 'Weights only' }).isChecked());
  assert.equal(await page.getByLabel('Weights in', { exact: true }).inputValue(), 'qint8');
});

onPage('a plan runs again when it comes or goes after the first run, another of the same name too', {}, async (page) => {
  await openDigits(page);
  await quantizeIn(page, 'Weights only');
  await measured(page);
  const bytesAfter = async (text) => {
    await page.locator('.command code', { hasText: text }).waitFor();
    await measured(page);
    return sha256((await saved(page, 'Download digits_cnn.int8.onnx')).bytes);
  };
  const digest = (options) => sha256(quantize('digits_cnn', options).model);
  const wide = { mode: 'weights', weight_type: 'qint16' }, quick = { mode: 'dynamic' };
  await hand(page, 'drop', [asFile(digitsPlan(wide))]);
  assert.equal(await bytesAfter(`--mode weights --target wasm --plan ${NAME}`), digest(wide));
  await hand(page, 'drop', [asFile(digitsPlan(quick))]);
  assert.equal(await bytesAfter(`--mode dynamic --target wasm --plan ${NAME}`), digest(quick));
  await planFile(page).getByRole('button', { name: 'Remove' }).click();
  await page.locator('.command code', { hasText: /--mode weights(?!.*--plan)/ }).waitFor();
});

onPage('a plan from before calibration learns its ranges from samples', {}, async (page) => {
  const request = { name: 'digits_cnn.onnx', model: modelBytes('digits_cnn'), options: { mode: 'static' } };
  const { plan } = octet.inspect_model(request).report;
  assert.ok(plan.activations.every(({ low }) => low === undefined));
  await openDigits(page);
  // Onto the place for samples: it is for the whole page there too.
  await hand(page, 'drop', [asFile(plan, 'early.json')], '.samples');
  await planFile(page, 'early.json').getByText(/It is not calibrated: ranges are learned from samples/).waitFor();
  await area(page, 'Samples to learn ranges from').waitFor();
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await measured(page);
  const { bytes } = await saved(page, 'Download digits_cnn.int8.onnx');
  assert.equal(sha256(bytes), sha256(quantize('digits_cnn', { mode: 'static' }, { ranges: await rangesOf('digits_cnn') }).model));
  const line = await command(page);
  assert.match(line, /--plan early\.json --ranges digits_cnn\.ranges\.json$/);
  await page.getByText('with early.json and digits_cnn.ranges.json beside it').waitFor();
  if (!existsSync(program)) return;
  const ranges = (await saved(page, 'Ranges as JSON')).bytes;
  const files = {
    'digits_cnn.onnx': modelBytes('digits_cnn'), 'early.json': JSON.stringify(plan), 'digits_cnn.ranges.json': ranges,
  };
  assert.equal(sha256(await runCommand(line, files, 'digits_cnn.int8.onnx')), sha256(bytes));
});

onPage('takes model and plan in one drop', {}, async (page) => {
  await hand(page, 'drop', [asFile(digitsPlan(), 'any name.json'), fileOf('mine.onnx', modelBytes('digits_cnn'))]);
  await page.getByRole('heading', { name: 'mine.onnx' }).waitFor();
  await planFile(page, 'any name.json').waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  // What was said of one model says nothing of another.
  await page.getByRole('button', { name: 'Another model' }).click();
  await openDigits(page);
  assert.equal(await planFile(page, 'any name.json').count(), 0);
});

onPage('what is no plan for this model is an error that names the file', {}, async (page) => {
  await hand(page, 'drop', [asFile(digitsPlan(), 'early bird.json')]);
  await page.getByRole('alert').filter({ hasText: 'early bird.json: a plan needs its model.' }).waitFor();
  await openDigits(page);
  assert.equal(await page.getByRole('alert').count(), 0);
  const broken = structuredClone(digitsPlan());
  broken.nodes[0].action = 'guess';
  const stranger = quantize('gpt_char', { mode: 'weights' }).report.plan;
  const cases = [
    [fileOf('list.json', Buffer.from('[1, 2]')), /list\.json: is JSON, but no plan\.\s*Give one that/],
    [fileOf('cut.plan.json', Buffer.from('{"octet_plan": 1,')), /cut\.plan\.json: is no JSON\./],
    [asFile({ ...digitsPlan(), octet_plan: 7 }, 'future.json'), /future\.json: .*no Octet plan of version 1/],
    [asFile(broken, 'broken.json'), /broken\.json: node .*action 'guess' is none that Octet knows/],
    [asFile(stranger, 'gpt.json'), /gpt\.json: .*stores no float tensor of this name/],
  ];
  for (const [file, words] of cases) {
    await hand(page, 'drop', [file]);
    await page.getByRole('alert').filter({ hasText: words }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 1, file.name);
    assert.equal(await page.getByRole('heading', { name: /^Plan:/ }).count(), 0, file.name);
  }
  await pick(page, fileOf('photo.txt', Buffer.from('hello')));
  await page.getByRole('alert').filter({ hasText: 'photo.txt: is no JSON.' }).waitFor();
  await pick(page, asFile(digitsPlan()));
  await planFile(page).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0, 'a good one takes the complaint away');
});

onPage('a long name fits a phone', { viewport: PHONE }, async (page) => {
  await openDigits(page);
  const name = `${'a_long_name_without_a_space_in_it_'.repeat(3)}.plan.json`;
  await pick(page, asFile(digitsPlan(), name));
  await planFile(page, name).waitFor();
  await page.locator('.options summary').click();
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= room, `${wide} pixels in ${room}`);
});
