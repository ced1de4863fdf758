// Native figures out of a report of `octet bench`: every number on the page is the report's, and a ratio says what it goes
// across.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { modelBytes } from '../wasm/octet_runs.mjs';
import { PHONE } from './browser.mjs';
import { inFolder, onPage, program, saved, unbuilt } from './on_page.mjs';
import { fileOf, measured, pinned, quantizeIn, rows } from './page_steps.mjs';
import {
  benchReport, giveReport, line, msText, native, nativeFigures, reportFile, sameAsReport, timesText, wholeReport,
} from './native_report.mjs';

async function digits(page, mode = 'Weights only') {
  await page.getByRole('button', { name: 'Digits' }).click();
  await quantizeIn(page, mode);
  await measured(page);
}

onPage('a dropped report fills the native columns with its very numbers', { skip: unbuilt }, async (page) => {
  const report = await benchReport('digits_cnn', 'weights');
  await digits(page);
  await giveReport(page, reportFile(report));
  await nativeFigures(page).waitFor();
  const kept = await sameAsReport(page, report, 'bench.json');
  assert.equal(kept.browser_to_native.across_runtimes, true);
  assert.equal(kept.browser_to_native.machines, 'perhaps other', 'nothing says where a dropped report was made');
  await native(page).getByText(/across runtimes: .* and across machines unless this is the one/).waitFor();

  const { sentence } = report.rows[1].verdict;
  const verdicts = await native(page).locator('.verdicts').textContent();
  assert.ok(verdicts.includes(`Natively${sentence.replace(/ (faster|slower|before) here/, ' $1')}`), verdicts);
  assert.match(verdicts, /^In this browser.*in this browser|^In this browser.*noise/);
  const medians = await native(page).getByRole('img', { name: 'Medians:' }).getAttribute('aria-label');
  for (const row of report.rows) assert.ok(medians.includes(`${msText(row.latency.median_ms)}`), medians);
  const dots = await native(page).getByRole('img', { name: 'Medians:' }).locator('circle').count();
  assert.ok(dots >= report.rows.reduce((sum, row) => sum + row.milliseconds.length, 0), `${dots} dots`);
  const cell = rows(page).first().locator('.of-native');
  assert.equal((await cell.textContent()).replace('native', ''), timesText(report.rows[1].speedup.ratio));
});

onPage('a report of a machine with other cores is called that', { skip: unbuilt }, async (page) => {
  const report = await benchReport('digits_cnn', 'weights');
  Object.assign(report.environment, { cpu: 'Some other CPU', cores: 96 });
  await digits(page);
  await giveReport(page, reportFile(report));
  await native(page).getByText(/by their cores, across machines: the report was made on Some other CPU, 96 cores/).waitFor();
  assert.equal((await wholeReport(page)).native.browser_to_native.machines, 'other');
});

onPage('further models of a report are rows, and so is the pinned run', { skip: unbuilt }, async (page) => {
  const report = await benchReport('digits_cnn', 'dynamic', { 'third.onnx': { mode: 'weights', per_channel: false } });
  await digits(page);
  await pinned(page, 'Dynamic');
  await giveReport(page, reportFile(report));
  await nativeFigures(page).waitFor();
  const names = await nativeFigures(page).getByRole('rowheader').allTextContents();
  assert.deepEqual(names, ['FP32', 'This run', 'Pinned', 'third.onnx']);
  const third = await line(page, 'third.onnx');
  assert.ok(third.some((cell) => cell.startsWith(msText(report.rows[2].latency.median_ms))), `${third}`);
});

onPage('the page shows the command, and its report is taken by drop', { skip: unbuilt }, async (page) => {
  await digits(page);
  const command = await native(page).locator('code').textContent();
  assert.equal(command, 'octet bench tests/data/digits_cnn.onnx digits_cnn.int8.onnx --data tests/data/digits_cnn/eval --json > bench.json');
  const { bytes } = await saved(page, 'Download digits_cnn.int8.onnx');
  const text = await inFolder({ 'digits_cnn.int8.onnx': bytes }, (folder) => {
    const words = command.replace(' > bench.json', '').replace('octet ', '').split(' ')
      .map((word) => (word === 'digits_cnn.int8.onnx' ? join(folder, word) : word));
    return execFileSync(program, [...words, '--runs', '5'], { maxBuffer: 1e8 }).toString();
  });
  const dropped = (name) => page.evaluateHandle(([file, report]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([report], file));
    return transfer;
  }, [name, text]);
  await native(page).locator('.report-drop').dispatchEvent('drop', { dataTransfer: await dropped('bench.json') });
  await nativeFigures(page).waitFor();
  await sameAsReport(page, JSON.parse(text), 'bench.json');

  // Anywhere else on the page too: it is neither a model nor weights of one.
  await page.locator('.masthead').dispatchEvent('drop', { dataTransfer: await dropped('second.json') });
  await native(page).getByText('second.json, by octet bench').waitFor();
  assert.equal(await page.locator(':focus').textContent(), 'Natively', 'the reader is taken there');
});

onPage('refuses other files in words, and keeps what it had', { skip: unbuilt }, async (page) => {
  await digits(page);
  const good = await benchReport('digits_cnn', 'weights');
  const own = JSON.stringify(await wholeReport(page));
  const broken = structuredClone(good);
  delete broken.rows[0].latency.median_ms;
  const twins = structuredClone(good);
  twins.rows = twins.rows.flatMap((row, i) => (i % 2 === 1 ? [{ ...row, name: 'a.onnx' }, { ...row, name: 'b.onnx' }] : [row]));
  const cases = [
    [[fileOf('note.txt', Buffer.from('hello'))], /note\.txt: this is not JSON\..*octet bench FLOAT INT8 --json/],
    [[fileOf('none.json', Buffer.alloc(0))], /none\.json: this file is empty/],
    [[fileOf('list.json', Buffer.from('[1, 2]'))], /list\.json: this is no report of octet bench/],
    [[fileOf('own.json', Buffer.from(own))], /own\.json: this is no report of octet bench/],
    [[fileOf('model.onnx', modelBytes('digits_cnn'))], /model\.onnx: this is not JSON/],
    [[reportFile(broken)], /bench\.json: this looks like a bench report, but its “rows\[0\]\.latency\.median_ms” is not a number/],
    [[reportFile(await benchReport('gpt_char', 'weights'))], /about another model: digits_cnn\.onnx has [\d,]+ bytes, the report begins with gpt_char\.onnx \([\d,]+ bytes\)/],
    [[reportFile(await benchReport('digits_cnn', 'dynamic'))], /not about this run: digits_cnn\.int8\.onnx has [\d,]+ bytes, the report has digits_cnn\.int8\.onnx \([\d,]+ bytes\)/],
    [[reportFile(twins)], /so have several models of the report: a\.onnx \([\d,]+ bytes\), b\.onnx/],
    [[reportFile(good), reportFile(good, 'second.json')], /2 files at once/],
  ];
  for (const [files, words] of cases) {
    await giveReport(page, ...files);
    await native(page).getByRole('alert').filter({ hasText: words }).waitFor();
    assert.equal(await nativeFigures(page).count(), 0, String(words));
  }
  await giveReport(page, reportFile(good));
  await nativeFigures(page).waitFor();
  assert.equal(await native(page).getByRole('alert').count(), 0);
  await giveReport(page, fileOf('note.txt', Buffer.from('hello')));
  await native(page).getByRole('alert').waitFor();
  assert.equal(await nativeFigures(page).count(), 1, 'what was there stays');
});

onPage('native figures are there after a reload, until they are removed', { skip: unbuilt }, async (page) => {
  const report = await benchReport('digits_cnn', 'weights');
  await digits(page);
  await giveReport(page, reportFile(report));
  await nativeFigures(page).waitFor();
  const keptNative = (wanted) => page.waitForFunction(async (there) => {
    const runs = await (await navigator.storage.getDirectory()).getDirectoryHandle('runs');
    try {
      for await (const folder of runs.values()) {
        const file = await (await folder.getFileHandle('run.json')).getFile();
        return (JSON.parse(await file.text()).native !== null) === there;
      }
    } catch (error) {
      if (error.name !== 'NotFoundError' && error.name !== 'NotReadableError') throw error;
    }
    return false;
  }, wanted);
  await keptNative(true);
  await page.reload();
  await rows(page).first().getByRole('button').first().click();
  await nativeFigures(page).waitFor();
  await sameAsReport(page, report, 'bench.json');
  await native(page).getByText('From another machine').click();
  await page.getByRole('button', { name: 'Remove the native figures' }).click();
  await nativeFigures(page).waitFor({ state: 'detached' });
  await keptNative(false);
});

onPage('the HTML report has the native part, without scripts', { skip: unbuilt }, async (page) => {
  const report = await benchReport('digits_cnn', 'weights');
  report.environment.cpu = '<img src=x onerror=alert(1)>';
  await digits(page);
  await giveReport(page, reportFile(report));
  await nativeFigures(page).waitFor();
  const { bytes } = await saved(page, 'Report');
  assert.doesNotMatch(bytes.toString().replaceAll('&lt;img src=x onerror', ''), /<script|<img|https?:|\bsrc=|\bhref=|\bon\w+=/);
  await inFolder({ 'report.html': bytes }, async (folder) => {
    const elsewhere = await page.context().browser().newContext({ javaScriptEnabled: false, viewport: PHONE });
    const other = await elsewhere.newPage();
    await other.goto(pathToFileURL(join(folder, 'report.html')).href);
    await other.getByRole('heading', { name: 'Here and natively' }).waitFor();
    assert.equal(await other.getByRole('img').count(), 4, 'size, latency, drift, and latency here and natively');
    const shown = await nativeFigures(other).getByRole('row', { name: 'FP32' }).textContent();
    assert.ok(shown.includes(msText(report.rows[0].latency.median_ms)), shown);
    await other.getByText(/across runtimes: .*<img src=x onerror=alert\(1\)>/).waitFor();
    const { width } = await other.locator('main').boundingBox();
    assert.ok(width <= PHONE.width, `${width} pixels`);
    await elsewhere.close();
  });
});

// Colours of a picture that cover more than a few pixels, read by the browser itself.
const coloursOf = (page, bytes) => page.evaluate(async (base64) => {
  const data = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([data], { type: 'image/png' }));
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height), to = canvas.getContext('2d');
  to.drawImage(bitmap, 0, 0);
  const { data: pixels } = to.getImageData(0, 0, bitmap.width, bitmap.height);
  const counts = {};
  for (let i = 0; i < pixels.length; i += 4) {
    const colour = `${pixels[i]},${pixels[i + 1]},${pixels[i + 2]}`;
    counts[colour] = (counts[colour] ?? 0) + 1;
  }
  return { width: bitmap.width, height: bitmap.height, counts };
}, Buffer.from(bytes).toString('base64'));

const FLOAT = '127,137,143', RUN = '11,110,105', PAPER = '251,251,249', INK = '27,31,34';

onPage('gives a picture of it all, which no image policy had to be loosened for', { skip: unbuilt, viewport: PHONE }, async (page) => {
  await digits(page);
  const without = await saved(page, 'Picture');
  assert.equal(without.name, 'digits_cnn.int8.report.png');
  await giveReport(page, reportFile(await benchReport('digits_cnn', 'weights')));
  await nativeFigures(page).waitFor();
  const { bytes } = await saved(page, 'Picture');
  const small = await coloursOf(page, without.bytes), { width, height, counts } = await coloursOf(page, bytes);
  assert.equal(width, 2240, 'as wide on a phone as on a screen');
  assert.ok(height > small.height + 800, `${height} pixels, without native figures ${small.height}`);
  assert.ok(counts[PAPER] > 0.5 * width * height, 'paper');
  for (const colour of [FLOAT, RUN, INK]) assert.ok(counts[colour] > 2000, `${colour}: ${counts[colour]} pixels`);
  assert.match(await page.locator('meta[http-equiv]').getAttribute('content'), /img-src 'self';/);
  assert.equal(await page.locator('.sheet').count(), 0, 'what it was drawn from is gone');
});

onPage('native figures fit a phone', { skip: unbuilt, viewport: PHONE, colorScheme: 'dark' }, async (page) => {
  await digits(page);
  await giveReport(page, reportFile(await benchReport('digits_cnn', 'weights', { 'a third model with a rather long name.onnx': { mode: 'dynamic' } })));
  await nativeFigures(page).waitFor();
  for (const summary of await native(page).locator('summary').all()) await summary.click();
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= room, `${wide} pixels in ${room}`);
  const outside = await page.locator('.chart svg text').evaluateAll((texts) => texts
    .filter((text) => text.getBoundingClientRect().left < -1 || text.getBoundingClientRect().right > innerWidth + 1)
    .map((text) => text.textContent));
  assert.deepEqual(outside, [], 'words outside the window');
});
