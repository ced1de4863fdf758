// Runs are rows that stay: looked at, pinned, compared, taken away, removed, and there again after a reload.
import assert from 'node:assert/strict';
import { quantize, sha256 } from '../wasm/octet_runs.mjs';
import { PHONE } from './browser.mjs';
import { onPage, saved } from './on_page.mjs';
import { measured, quantizeIn, rows } from './page_steps.mjs';

const row = (page, mode) => rows(page).filter({ has: page.locator('strong', { hasText: mode }) });

// Two runs of the digits: weights only, then dynamic, which begins by itself once the mode is another.
async function twoRuns(page) {
  await page.getByRole('button', { name: 'Digits' }).click();
  await quantizeIn(page, 'Weights only');
  await measured(page);
  await page.getByText('Dynamic', { exact: true }).click();
  await page.locator('.command code', { hasText: '--mode dynamic' }).waitFor();
  await measured(page);
}

// Files of the page's own are written after the result shows. What the page writes or removes while it is read here
// cannot be read: not settled yet.
const settled = (page, count) => page.waitForFunction(async (wanted) => {
  const root = await navigator.storage.getDirectory(), found = [];
  try {
    for await (const folder of (await root.getDirectoryHandle('runs', { create: true })).values()) {
      for await (const file of folder.values()) if (file.name === 'run.json') found.push(await (await file.getFile()).text());
    }
    return found.length === wanted && found.every((text) => JSON.parse(text).comparison !== null);
  } catch (error) {
    if (error.name === 'NotFoundError' || error.name === 'NotReadableError') return false;
    throw error;
  }
}, count);

onPage('lists every run with size, speed, drift and verdict, and shows the one that is chosen', {}, async (page) => {
  await twoRuns(page);
  assert.equal(await rows(page).count(), 2);
  const cells = await row(page, 'Weights only').getByRole('cell').allTextContents();
  assert.match(cells[0], /23\.5 KB.*3\.5× smaller/);
  assert.match(cells[1], /[\d.]+×/);
  assert.match(cells[2], /^native–$/, 'no native figures yet');
  assert.match(cells[3], /4\d\.\d dB/);
  assert.match(cells[4], /Ship it|Don’t|Not sure/);

  await row(page, 'Weights only').getByRole('button').first().click();
  await page.locator('.command code', { hasText: '--mode weights' }).waitFor();
  assert.match(await page.locator(':focus').textContent(), /3\.5× smaller/, 'the reader is taken to the verdict');
});

onPage('pins a run and draws it beside the others', {}, async (page) => {
  await twoRuns(page);
  const size = page.getByRole('img', { name: 'Size:' }), label = () => size.getAttribute('aria-label');
  assert.doesNotMatch(await label(), /Pinned/);
  await row(page, 'Weights only').getByRole('button', { name: 'Pin', exact: true }).click();
  assert.match(await label(), /Pinned 23\.5 KB/);
  await page.getByText('Pinned: digits_cnn.onnx, Weights only; timed when it was made').waitFor();
  assert.match(await page.getByRole('img', { name: 'Medians:' }).getAttribute('aria-label'), /Pinned with 1 thread/);
  await row(page, 'Dynamic').getByRole('button', { name: 'Pin', exact: true }).click();
  assert.equal(await page.getByRole('button', { name: 'Unpin' }).count(), 1, 'one at most');

  await page.getByRole('button', { name: 'Another model' }).click();
  await page.getByRole('button', { name: 'Small GPT' }).click();
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await page.getByText(/being measured/).waitFor();
  assert.doesNotMatch(await label(), /Pinned/, 'runs of another model are no measure');
});

onPage('compares two runs in words, figures and options', {}, async (page) => {
  await twoRuns(page);
  for (const box of await rows(page).getByRole('checkbox').all()) await box.check();
  const compare = page.getByRole('region', { name: 'A and B side by side' });
  await compare.waitFor();
  assert.match(await compare.textContent(), /B is 3\.\d % larger than A, .* its speed and \d\.\d dB further from the float model/);
  assert.match(await compare.textContent(), /They differ in mode \(weights, dynamic\)/);
  const mode = compare.getByRole('row', { name: /^mode/ });
  assert.match(await mode.textContent(), /differs/);
  assert.doesNotMatch(await compare.getByRole('row', { name: /^target/ }).textContent(), /differs/);
  await compare.getByRole('button', { name: 'Close' }).click();
  await compare.waitFor({ state: 'detached' });
});

onPage('keeps runs over a reload, with their files, until they are removed', {}, async (page) => {
  await twoRuns(page);
  await row(page, 'Weights only').getByRole('button', { name: 'Pin', exact: true }).click();
  await settled(page, 2);
  await page.reload();
  await row(page, 'Weights only').waitFor();
  assert.equal(await rows(page).count(), 2);
  assert.equal(await page.getByRole('button', { name: 'Unpin' }).count(), 1, 'still pinned');

  const chosen = row(page, 'Weights only');
  await chosen.getByText('More', { exact: true }).click();
  const { name, bytes } = await saved(page, chosen.getByRole('button', { name: 'Download' }));
  assert.equal(name, 'digits_cnn.int8.onnx');
  assert.equal(sha256(bytes), sha256(quantize('digits_cnn', { mode: 'weights' }).model));
  await chosen.getByRole('button').first().click();
  await measured(page);
  await page.getByText('Open digits_cnn.onnx again to look into its layers.').waitFor();

  await chosen.getByRole('button', { name: 'Remove' }).click();
  assert.equal(await rows(page).count(), 1);
  await settled(page, 1);
  await page.reload();
  await row(page, 'Dynamic').waitFor();
  assert.equal(await rows(page).count(), 1, 'what is removed stays away');
});

onPage('takes up no half-written run, and clears it away', {}, async (page) => {
  await page.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    const folder = await (await root.getDirectoryHandle('runs', { create: true })).getDirectoryHandle('torn', { create: true });
    const sink = await (await folder.getFileHandle('model.onnx', { create: true })).createWritable();
    await sink.write('half');
    await sink.close();
  });
  await page.reload();
  await page.waitForFunction(async () => {
    const runs = await (await navigator.storage.getDirectory()).getDirectoryHandle('runs');
    return (await Array.fromAsync(runs.keys())).length === 0;
  });
  assert.equal(await page.getByRole('heading', { name: 'Runs' }).count(), 0);
});

onPage('says when the browser gives no more room, and works on', {}, async (page) => {
  await page.evaluate(() => {
    FileSystemFileHandle.prototype.createWritable = () => Promise.reject(new DOMException('full', 'QuotaExceededError'));
  });
  await page.getByRole('button', { name: 'Digits' }).click();
  await quantizeIn(page, 'Weights only');
  await page.getByText('The browser gives this page no more room').waitFor();
  await measured(page);
  assert.equal(await rows(page).count(), 1);
});

onPage('copies the command line and the link of a run', {}, async (page, { url }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await twoRuns(page);
  const chosen = row(page, 'Dynamic');
  await chosen.getByText('More', { exact: true }).click();
  await chosen.getByRole('button', { name: 'Copy command line' }).click();
  await chosen.getByText('Copied').first().waitFor();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  assert.equal(await copied(), await page.locator('.command code').textContent());
  await chosen.getByRole('button', { name: 'Copy link' }).click();
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith('http'));
  assert.ok((await copied()).startsWith(url));
  assert.ok(!(await copied()).includes('digits'), 'options, never data');
});

onPage('rows fit a phone', { viewport: PHONE }, async (page) => {
  await twoRuns(page);
  for (const box of await rows(page).getByRole('checkbox').all()) await box.check();
  await page.getByRole('region', { name: 'A and B side by side' }).waitFor();
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= room, `${wide} pixels in ${room}`);
});

