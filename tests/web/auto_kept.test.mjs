// What a search found is there after a reload, for the same model, until it is removed.
import assert from 'node:assert/strict';
import { modelBytes } from '../wasm/octet_runs.mjs';
import { band, begin, candidates, points, search, settled } from './auto_steps.mjs';
import { onPage } from './on_page.mjs';
import { fileOf, rows } from './page_steps.mjs';

const open = (page, model) => page.locator('.card', { hasText: model }).click();
const inspected = (page) => page.getByRole('radio', { name: 'Automatic' }).waitFor();

// Folders that are whole, once there are so many.
const kept = (page, wanted) => page.waitForFunction(async (count) => {
  const root = await navigator.storage.getDirectory(), names = [];
  try {
    for await (const folder of (await root.getDirectoryHandle('searches', { create: true })).values()) {
      await folder.getFileHandle('search.json');
      names.push(folder.name);
    }
  } catch (error) {
    if (error.name === 'NotFoundError' || error.name === 'NotReadableError') return null;
    throw error;
  }
  return names.length === count ? names : null;
}, wanted).then((found) => found.jsonValue());

// Each candidate with its figures, as the table has them.
const rowsOf = async (page) => (await candidates(page).allTextContents()).sort();

onPage('is there after a reload, of the same model and no other, and can be taken', {}, async (page) => {
  await search(page, 'Digits');
  await settled(page);
  const before = await rowsOf(page), words = await band(page).locator('.account').textContent();
  const would = await band(page).locator('.would-be-words').textContent();
  await kept(page, 1);
  await page.reload();
  await rows(page).first().waitFor();
  assert.equal(await band(page).count(), 0, 'no model, no search');

  await open(page, 'Small GPT');
  await inspected(page);
  assert.equal(await band(page).count(), 0, 'another model has none');
  await page.getByRole('button', { name: 'Another model' }).click();

  await open(page, 'Digits');
  await points(page).first().waitFor();
  assert.deepEqual(await rowsOf(page), before);
  assert.equal(await band(page).locator('.account').textContent(), words);
  assert.equal(await band(page).locator('.would-be-words').textContent(), would);
  await band(page).getByText(/^Found on .* on 8 files/).waitFor();
  await band(page).getByRole('slider').focus();
  await page.keyboard.press('End');
  assert.notEqual(await band(page).locator('.would-be-words').textContent(), would, 'the floor moves');
  await band(page).getByRole('button', { name: 'Take this one: weights only', exact: true }).click();
  await page.locator('.command code', { hasText: '--mode weights' }).waitFor();
  await settled(page);
  assert.equal(await rows(page).count(), 2);
});

onPage('a file with the same name and other bytes has none', {}, async (page) => {
  const bytes = Buffer.from(modelBytes('digits_cnn')), other = Buffer.from(bytes);
  await search(page, 'Digits', { seconds: '5' });
  await settled(page);
  await kept(page, 1);
  await page.reload();
  other[other.length >> 1] ^= 1; // of a weight
  await page.locator('input[type=file]').first().setInputFiles([fileOf('digits_cnn.onnx', other)]);
  await inspected(page);
  await page.waitForTimeout(1000);
  assert.equal(await band(page).count(), 0);
  await page.getByRole('button', { name: 'Another model' }).click();
  await page.locator('input[type=file]').first().setInputFiles([fileOf('called otherwise.onnx', bytes)]);
  await points(page).first().waitFor();
});

onPage('a new search goes on from what was kept, and takes its place', {}, async (page) => {
  await search(page, 'Small GPT', { sqnr: '35', seconds: '60' });
  await points(page).nth(3).waitFor();
  await band(page).getByRole('button', { name: 'Stop and take the best' }).click();
  await settled(page);
  const found = await points(page).count(), [first] = await kept(page, 1);
  await page.reload();
  await open(page, 'Small GPT');
  await points(page).nth(found - 1).waitFor();
  await begin(page, { sqnr: '35', seconds: '60' });
  await band(page).getByRole('button', { name: 'Stop and take the best' }).waitFor();
  // Measuring as many anew takes longer than that.
  await points(page).nth(found - 1).waitFor({ timeout: 8_000 });
  await band(page).getByRole('button', { name: 'Stop and take the best' }).click();
  await settled(page);
  const [second] = await kept(page, 1);
  assert.notEqual(second, first);
});

onPage('other samples begin anew: what was kept is of others', {}, async (page) => {
  await search(page, 'Digits', { seconds: '5' });
  await settled(page);
  await kept(page, 1);
  await page.reload();
  await open(page, 'Digits');
  await points(page).first().waitFor();
  await page.getByRole('region', { name: 'Samples to check on' }).getByRole('button', { name: 'Remove' }).click();
  await begin(page, { seconds: '5' });
  await points(page).first().waitFor();
  await settled(page);
  assert.equal(await page.getByRole('alert').count(), 0);
  assert.equal(await rows(page).count(), 2);
});

onPage('is gone once it is removed', {}, async (page) => {
  await search(page, 'Digits', { seconds: '5' });
  await settled(page);
  await kept(page, 1);
  await band(page).getByRole('button', { name: 'Remove what the search found' }).click();
  await band(page).waitFor({ state: 'detached' });
  await kept(page, 0);
  await page.reload();
  await open(page, 'Digits');
  await inspected(page);
  await page.waitForTimeout(1000);
  assert.equal(await band(page).count(), 0);
});

onPage('keeps the newest few, and nothing half-written', {}, async (page) => {
  await page.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    const searches = await root.getDirectoryHandle('searches', { create: true });
    const write = async (folder, name, text) => {
      const sink = await (await folder.getFileHandle(name, { create: true })).createWritable();
      await sink.write(text);
      await sink.close();
    };
    for (let i = 0; i < 9; ++i) {
      const folder = await searches.getDirectoryHandle(`old-${i}`, { create: true });
      const facts = { version: 1, id: `old-${i}`, created: i, model: { bytes: 5, digest: `${i}` }, plans: 0 };
      await write(folder, 'search.json', JSON.stringify(facts));
    }
    await write(await searches.getDirectoryHandle('torn', { create: true }), 'plan_0.json', '{}');
  });
  await search(page, 'Digits', { seconds: '5' });
  await settled(page);
  const names = await kept(page, 8);
  assert.deepEqual(names.filter((name) => /^(old|torn)/.test(name)).sort(), [2, 3, 4, 5, 6, 7, 8].map((i) => `old-${i}`));
});
