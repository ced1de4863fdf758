// A search on the page under `octet serve`: its candidates natively too, and samples that the server alone reads.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { ROOT } from '../wasm/load_octet.mjs';
import { modelBytes } from '../wasm/octet_runs.mjs';
import { band, candidates, points, search, settled } from './auto_steps.mjs';
import { violations } from './axe.mjs';
import { onPage, unbuilt } from './on_page.mjs';
import { area, fileOf, rows } from './page_steps.mjs';
import { serveOctet } from './serve_octet.mjs';

const SERVED = { skip: unbuilt, serve: serveOctet };

const table = (page) => area(page, 'Candidates natively');
const diamonds = (page) => band(page).locator('[data-native]');
const ask = (page) => band(page).getByRole('button', { name: /^Time these natively/, disabled: false });

const cellsOf = async (page) => Object.fromEntries(await table(page).locator('tbody tr').evaluateAll((all) => all
  .map((row) => [row.querySelector('th').textContent, [...row.querySelectorAll('td')].map((cell) => cell.textContent)])));

// Has the page keep what octet serve answers.
const listen = (page) => page.evaluate(() => {
  const { fetch } = window;
  window.benched = [];
  window.fetch = async (...request) => {
    const response = await fetch(...request);
    if (String(request[0]).endsWith('/api/bench')) window.benched.push(response.clone().text());
    return response;
  };
});

const reports = (page) => page.evaluate(async () => (await Promise.all(window.benched))
  .map((text) => JSON.parse(text.trim().split('\n').at(-1)).report));

const timesText = (ratio) => `${ratio < 10 ? ratio.toPrecision(2) : ratio.toFixed(0)}×`;

onPage('candidates on the front are timed natively, and stand in chart and table as they were measured', SERVED, async (page, { server, requests, context }) => {
  await search(page, 'Digits', { seconds: '8' });
  await settled(page);
  await ask(page).waitFor();
  await listen(page);
  assert.equal(await diamonds(page).count(), 0);
  await ask(page).click();
  await band(page).getByRole('button', { name: 'Time these natively again', disabled: false }).waitFor();
  const cells = await cellsOf(page), { 'FP32, as given': float, ...timed } = cells;
  const made = await reports(page), names = Object.keys(timed);
  assert.equal(made.length, names.length, 'one after the other, each against FP32');
  assert.ok(names.length >= 2, names.join());

  // Those with a badge, and the one that is chosen.
  const marked = await candidates(page).filter({ has: page.locator('.badge') }).evaluateAll((all) => all
    .map((row) => row.querySelector('th').firstChild.textContent.trim()));
  for (const name of marked) assert.ok(names.includes(name), `${name} in ${names}`);
  assert.equal(await diamonds(page).count(), names.length);

  const said = made.map(({ rows: [, row] }) => [
    `${timesText(row.speedup.ratio)} [${timesText(row.speedup.low)}, ${timesText(row.speedup.high)}]`,
    row.worst_sqnr_db >= 200 ? 'equal' : `${row.worst_sqnr_db.toFixed(1)} dB`,
  ]);
  const shown = Object.values(timed).map(([speed, , , drift]) => [speed, drift]);
  assert.deepEqual(shown.sort(), said.sort());
  const floats = made.map(({ rows: [row] }) => row.latency.median_ms).sort((a, b) => a - b);
  const ms = floats[floats.length >> 1];
  assert.equal(float[2], ms < 10 ? `${ms.toPrecision(2)} ms` : `${ms.toFixed(ms < 100 ? 1 : 0)} ms`);
  assert.ok(made.every(({ synthetic }) => !synthetic), 'on the samples of the page');

  // To the right is faster: marks stand in the order of the figures.
  const places = await diamonds(page).evaluateAll((all) => all.map((one) => [
    one.querySelector('title').textContent, one.querySelector('.mark').getBoundingClientRect().x + one.querySelector('.mark').getBoundingClientRect().width / 2,
  ]));
  const ratio = (title) => parseFloat(/natively: ([\d.]+)×/.exec(title)[1]);
  places.sort(([, a], [, b]) => a - b);
  for (let i = 1; i < places.length; ++i) assert.ok(ratio(places[i][0]) >= ratio(places[i - 1][0]), `${places}`);
  await band(page).getByText('● in this browser, ◆ natively').waitFor();

  assert.deepEqual(await violations(page, context), []);

  // Nothing is left there.
  for (const request of requests.filter((one) => one.includes('/api/files/candidate'))) {
    assert.equal((await server.ask(request.split('/api/')[1], { method: 'DELETE' })).status, 404, request);
  }
  await page.waitForFunction(async () => {
    const all = await (await navigator.storage.getDirectory()).getDirectoryHandle('searches');
    for await (const folder of all.values()) {
      const text = await (await (await folder.getFileHandle('search.json')).getFile()).text();
      return 'native' in JSON.parse(text);
    }
    return false;
  });
  await page.reload();
  await page.locator('.card', { hasText: 'Digits' }).click();
  await points(page).first().waitFor();
  assert.deepEqual(await cellsOf(page), cells, 'there again after a reload');
});

onPage('cancelled in the middle it keeps what was timed, and ends the work there', { ...SERVED, timeout: 240_000 }, async (page, { server }) => {
  await search(page, 'Small GPT', { seconds: '25' });
  await settled(page);
  await ask(page).click();
  await diamonds(page).first().waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await ask(page).waitFor();
  const done = await diamonds(page).count();
  assert.ok(done >= 1 && done < await points(page).count());
  assert.equal(await page.getByRole('alert').count(), 0, 'who cancels need not be told that it failed');
  for (let tries = 0; ; ++tries) {
    if (!(await (await server.ask('status')).json()).busy) break;
    assert.ok(tries < 100, 'the server is still at work');
    await page.waitForTimeout(100);
  }
});

onPage('says so when the server is gone, and the search stays', SERVED, async (page, { server, complaints }) => {
  await search(page, 'Digits', { seconds: '5' });
  await settled(page);
  await ask(page).waitFor();
  await server.close();
  await ask(page).click();
  await page.getByRole('alert').getByText('octet serve does not answer').waitFor();
  assert.ok(await points(page).count() > 0);
  assert.equal(await diamonds(page).count(), 0);
  for (const complaint of complaints.splice(0)) assert.match(complaint, /ERR_CONNECTION_REFUSED/);
});

onPage('on a plain server there is no such button', {}, async (page) => {
  await search(page, 'Digits', { seconds: '5' });
  await settled(page);
  assert.equal(await ask(page).count(), 0);
  assert.equal(await band(page).getByRole('heading', { name: 'Natively' }).count(), 0);
});

const CALIB = join(ROOT, 'tests/data/digits_cnn/calib');

onPage('samples that octet serve alone reads are refused for a search', {
  ...SERVED, serve: () => serveOctet('--calib', CALIB),
}, async (page, { requests }) => {
  await page.locator('input[type=file]').first().setInputFiles([fileOf('digits_cnn.onnx', modelBytes('digits_cnn'))]);
  await page.getByRole('radio', { name: 'Automatic' }).check();
  const samples = area(page, 'Samples to learn ranges from');
  await samples.getByRole('button', { name: 'Use calib of octet serve' }).click();
  await samples.getByText('octet serve reads calib itself').waitFor();
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.getByRole('alert').getByText(/needs samples in this browser, .* octet serve alone reads them/).waitFor();
  await page.getByRole('alert').getByText(/Drop samples here, or search with octet auto/).waitFor();
  assert.equal(await band(page).count(), 0, 'nothing was searched');
  assert.equal(await rows(page).count(), 0);
  assert.ok(requests.every((request) => !/api\/(files|calibrate|bench)/.test(request)), 'nothing was sent');
});
