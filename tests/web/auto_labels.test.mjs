// Right answers as the budget of a search: by a labels.json that lies with the samples.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../wasm/load_octet.mjs';
import { modelBytes, modelPath } from '../wasm/octet_runs.mjs';
import { band, begin, candidates, points, search, settled } from './auto_steps.mjs';
import { PHONE } from './browser.mjs';
import { inFolder, onPage, program, saved, unbuilt } from './on_page.mjs';
import { area, fileOf, giveSamples, rows } from './page_steps.mjs';

const EVAL = join(ROOT, 'tests/data/digits_cnn/eval');
const evalFile = (name) => fileOf(name, readFileSync(join(EVAL, name)));
const samples = readdirSync(EVAL).filter((name) => name.endsWith('.npz')).map(evalFile);

const CHECKED = 'Samples to check on';
const lostOf = (row) => row.locator('td').nth(2).textContent().then((text) => parseFloat(text.replace('−', '-')));

async function openDigits(page, given) {
  await page.locator('input[type=file]').first().setInputFiles([fileOf('digits_cnn.onnx', modelBytes('digits_cnn'))]);
  await page.getByRole('radio', { name: 'Automatic' }).check();
  await giveSamples(page, 'Samples to learn ranges from', samples);
  await giveSamples(page, CHECKED, given);
}

onPage('what is chosen loses no more right answers than asked for, as the command line counts them', { skip: unbuilt }, async (page) => {
  await search(page, 'Digits', { drop: '0.5', seconds: '8' });
  await settled(page);
  assert.equal(await page.getByLabel('Lowest SQNR, in dB', { exact: true }).count(), 0, 'one budget of drift');
  const chosen = candidates(page).filter({ hasText: 'chosen' }), lost = await lostOf(chosen);
  assert.ok(lost <= 0.5, `${lost} %`);
  await band(page).getByText(/^chosen: .*0\.50 % of right answers lost/).waitFor();
  assert.equal(await band(page).locator('.floor').count(), 0, 'no floor of decibels is drawn');

  const { bytes } = await saved(page, 'Download digits_cnn.auto.onnx');
  const { accuracy } = await inFolder({ 'chosen.onnx': bytes }, (folder) => JSON.parse(
    execFileSync(program, ['compare', modelPath('digits_cnn'), 'chosen.onnx', '--data', EVAL, '--json'], { cwd: folder })));
  const natively = 100 * (accuracy.reference - accuracy.candidate);
  // Kernels of both runtimes round otherwise: one answer may be another.
  assert.ok(Math.abs(natively - lost) <= 100 / accuracy.rows + 0.06, `${natively} % natively, ${lost} % here`);

  // The slider is of answers now, and each step's candidate keeps it.
  const slider = band(page).getByRole('slider', { name: /Right answers lost/ }), words = band(page).locator('.would-be-words');
  await slider.focus();
  for (const key of ['Home', 'End']) {
    await page.keyboard.press(key);
    assert.match(await words.textContent(), new RegExp(`^At ${Number(await slider.inputValue()).toFixed(1)} % of right answers lost`));
    const at = await lostOf(candidates(page).filter({ has: page.locator('.badge', { hasText: 'chosen' }) }));
    assert.ok(at <= Number(await slider.inputValue()), `${at} %`);
  }
});

onPage('without labels it asks for them; dropped alone they join the samples', { timeout: 240_000 }, async (page) => {
  await openDigits(page, samples);
  await begin(page, { drop: '1', seconds: '5' });
  await page.getByRole('alert').getByText('no labels say which answers are right').waitFor();
  assert.equal(await rows(page).count(), 0);
  await giveSamples(page, CHECKED, [evalFile('labels.json')]);
  await area(page, CHECKED).getByText('labels.json', { exact: true }).waitFor();
  await begin(page, { drop: '1', seconds: '5' });
  await settled(page);
  assert.ok(await lostOf(candidates(page).filter({ hasText: 'chosen' })) <= 1);

  // By decibels they are counted all the same.
  await page.getByRole('button', { name: 'back to none' }).first().click();
  await begin(page, { seconds: '5' });
  await band(page).getByRole('slider', { name: /^Lowest SQNR/ }).waitFor();
  await settled(page);
  await band(page).getByRole('columnheader', { name: 'lost' }).waitFor();
  assert.equal(await band(page).locator('.floor').count(), 1);
});

onPage('labels that do not fit are refused in words', {}, async (page) => {
  await openDigits(page, [...samples, fileOf('labels.json', '[[77], [1]]')]);
  await area(page, CHECKED).getByText('labels.json', { exact: true }).waitFor();
  await begin(page, { drop: '1', seconds: '5' });
  await page.getByRole('alert').getByText(/labels\.json fits no output/).waitFor();
  assert.equal(await rows(page).count(), 0);
});

onPage('every budget stands on the page with a sentence, fits a phone, and is in the address', { viewport: PHONE }, async (page) => {
  await page.locator('.card', { hasText: 'Digits' }).click();
  await page.getByRole('radio', { name: 'Automatic' }).check();
  const given = {
    'Lowest SQNR, in dB': ['33', 'budget_sqnr'], 'Time limit, in seconds': ['7', 'budget_seconds'],
    'Largest file, in MB': ['0.07', 'budget_mb'], 'Least speedup': ['0.5', 'budget_speedup'],
    'Right answers lost, in %': ['0', 'budget_drop'],
  };
  for (const [label, [value]] of Object.entries(given)) {
    const field = page.getByLabel(label, { exact: true });
    const help = await page.locator(`[id="${await field.getAttribute('aria-describedby')}"]`).textContent();
    assert.match(help, /^[A-Z].{20,}\.$/, label);
    await field.fill(value);
    await field.press('Tab');
  }
  const words = new URLSearchParams(new URL(page.url()).hash.slice(1));
  for (const [value, key] of Object.values(given)) assert.equal(words.get(key), value, key);
  await page.reload();
  await page.locator('.card', { hasText: 'Digits' }).click();
  for (const [label, [value]] of Object.entries(given)) {
    if (label.includes('SQNR')) continue; // answers count
    assert.equal(await page.getByLabel(label, { exact: true }).inputValue(), value, label);
  }
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= PHONE.width, `${width} px`);
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await points(page).first().waitFor();
  await settled(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= PHONE.width, `${wide} px with what was found`);
  const [inside, room] = await band(page).getByRole('region', { name: 'Candidates', exact: true })
    .evaluate((one) => [one.scrollWidth, one.clientWidth]);
  assert.ok(inside <= room, `candidates take ${inside} px of ${room}`);
});
