// Automatic mode: the chart fills, the chosen model keeps the budget, another floor chooses another, and every candidate
// can be taken.
import assert from 'node:assert/strict';
import { modelBytes } from '../wasm/octet_runs.mjs';
import { band, candidates, points, search, settled } from './auto_steps.mjs';
import { PHONE } from './browser.mjs';
import { onPage, runCommand, saved, unbuilt } from './on_page.mjs';
import { rows } from './page_steps.mjs';

const chart = (page) => band(page).getByRole('img', { name: /candidates; at/ });

for (const [model, file] of [['Digits', 'digits_cnn'], ['Small GPT', 'gpt_char']]) {
  onPage(`${file}: candidates appear, the chosen one keeps the budget`, { timeout: 240_000 }, async (page) => {
    await search(page, model);
    await points(page).first().waitFor();
    await settled(page);
    assert.ok(await points(page).count() >= 3);
    const chosen = candidates(page).filter({ hasText: 'chosen' });
    assert.equal(await chosen.count(), 1);
    const drift = await chosen.locator('td').nth(1).textContent();
    assert.ok(drift === 'equal' || parseFloat(drift) >= 25, drift);
    await band(page).getByText(/^chosen: /).waitFor();
    assert.equal(await rows(page).count(), 1);
    assert.match(await rows(page).first().textContent(), /Automatic/);
    await page.locator('.command code', { hasText: '--plan' }).waitFor();
  });
}

onPage('another floor chooses another: by keyboard and by dragging', {}, async (page) => {
  await search(page, 'Digits');
  await settled(page);
  const slider = band(page).getByRole('slider'), words = band(page).locator('.would-be-words');
  const first = await words.textContent();
  await slider.focus();
  await page.keyboard.press('End');
  assert.notEqual(await words.textContent(), first);
  assert.match(await words.textContent(), /float|weights only/);
  const marked = () => band(page).locator('.would-be').getAttribute('data-candidate');
  const at = await marked();
  await page.keyboard.press('Home');
  assert.match(await words.textContent(), /^At 0\.0 dB/);
  const before = await marked(), high = await chart(page).boundingBox();
  assert.notEqual(before, at);
  const grip = await band(page).locator('.floor .grip').boundingBox();
  await page.mouse.move(grip.x + 30, grip.y + grip.height / 2);
  await page.mouse.down();
  await page.mouse.move(grip.x + 30, high.y + 36, { steps: 5 });
  await page.mouse.up();
  assert.equal(await marked(), at);
  assert.ok(Number(await slider.inputValue()) > 25);
});

onPage('a candidate that is taken is a run; the command line makes its bytes', { skip: unbuilt }, async (page) => {
  await search(page, 'Digits');
  await settled(page);
  await band(page).getByRole('button', { name: 'Take this one: weights only', exact: true }).click();
  await page.locator('.command code', { hasText: '--mode weights' }).waitFor();
  await settled(page);
  assert.equal(await rows(page).count(), 2);
  const command = await page.locator('.command code').textContent();
  const plan = await saved(page, 'Plan as JSON'), { name, bytes } = await saved(page, 'Download digits_cnn.auto.onnx');
  assert.equal(name, 'digits_cnn.auto.onnx');
  const native = await runCommand(command, { 'digits_cnn.onnx': modelBytes('digits_cnn'), [plan.name]: plan.bytes }, name);
  assert.ok(native.equals(bytes), 'the same bytes');
});

onPage('what was chosen makes the same bytes natively', { skip: unbuilt }, async (page) => {
  await search(page, 'Small GPT', { sqnr: '30' });
  await settled(page);
  const command = await page.locator('.command code').textContent();
  const plan = await saved(page, 'Plan as JSON'), { name, bytes } = await saved(page, 'Download gpt_char.auto.onnx');
  const native = await runCommand(command, { 'gpt_char.onnx': modelBytes('gpt_char'), [plan.name]: plan.bytes }, name);
  assert.ok(native.equals(bytes), 'the same bytes');
});

onPage('stopping takes the best so far; cancelling keeps what was found', {}, async (page) => {
  await search(page, 'Small GPT', { sqnr: '45', seconds: '120' });
  await points(page).nth(1).waitFor();
  await band(page).getByRole('button', { name: 'Stop and take the best' }).click();
  await settled(page);
  assert.equal(await rows(page).count(), 1);
  await band(page).getByText('ended early: it was stopped').waitFor();
  const found = await points(page).count();
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  // What was measured comes from the log, at once.
  await points(page).nth(found - 1).waitFor({ timeout: 10_000 });
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Search', exact: true, disabled: false }).waitFor();
  assert.ok(await points(page).count() >= found);
  assert.equal(await rows(page).count(), 1);
  await band(page).getByRole('button', { name: /Take this one/ }).first().click();
  await settled(page);
  assert.equal(await rows(page).count(), 2);
});

onPage('what nothing keeps is said, and the candidates stay', {}, async (page) => {
  await page.getByRole('button', { name: 'Digits' }).click();
  await page.getByRole('radio', { name: 'Automatic' }).check();
  await page.getByLabel('Time limit, in seconds', { exact: true }).fill('10');
  await page.getByLabel('Least speedup', { exact: true }).fill('90');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.getByRole('alert').getByText(/fastest within/).waitFor();
  assert.ok(await points(page).count() >= 2);
  assert.equal(await rows(page).count(), 0);
});

onPage('without samples it asks for them', {}, async (page) => {
  await page.locator('input[type=file]').first().setInputFiles([
    { name: 'mine.onnx', mimeType: 'application/octet-stream', buffer: Buffer.from(modelBytes('digits_cnn')) }]);
  await page.getByRole('radio', { name: 'Automatic' }).check();
  await page.getByRole('button', { name: 'Add samples to search' }).waitFor();
  await page.getByRole('button', { name: 'use made-up inputs', exact: true }).click();
  await page.getByText(/Ranges of made-up inputs say little/).waitFor();
  await page.getByRole('button', { name: 'Search', exact: true }).waitFor();
});

onPage('fits a phone, and a link brings the budget back', { viewport: PHONE }, async (page) => {
  await search(page, 'Digits', { sqnr: '33' });
  await settled(page);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= PHONE.width, `${width} px`);
  assert.match(new URL(page.url()).hash, /mode=auto&.*budget_sqnr=33|budget_sqnr=33.*mode=auto/);
  await page.reload();
  await page.locator('.card', { hasText: 'Digits' }).click();
  assert.equal(await page.getByLabel('Lowest SQNR, in dB', { exact: true }).inputValue(), '33');
  assert.ok(await page.getByRole('radio', { name: 'Automatic' }).isChecked());
});
