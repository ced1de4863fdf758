// The result: what the charts say, what can be taken away, and that the command line does the same.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../wasm/load_octet.mjs';
import { modelBytes, modelPath, quantize, sha256 } from '../wasm/octet_runs.mjs';
import { PHONE } from './browser.mjs';
import { inFolder, nativeDrift, onPage, runCommand, saved, unbuilt } from './on_page.mjs';
import { measured } from './page_steps.mjs';

const SAMPLES = [['Digits', 'digits_cnn'], ['Small GPT', 'gpt_char']];

async function make(page, title, mode) {
  await page.getByRole('button', { name: title }).click();
  if (mode !== 'Weights only') await page.getByText(mode, { exact: true }).click();
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await measured(page);
}

const commandOf = (page) => page.locator('.command code').textContent();

for (const [title, name] of SAMPLES) {
  for (const [label, mode] of [['Weights only', 'weights'], ['Dynamic', 'dynamic']]) {
    onPage(`${title}, ${label}: the shown command gives the downloaded bytes, and they run natively`, { skip: unbuilt }, async (page) => {
      await make(page, title, label);
      const { name: output, bytes } = await saved(page, `Download ${name}.int8.onnx`);
      assert.equal(output, `${name}.int8.onnx`);
      assert.equal(sha256(bytes), sha256(quantize(name, { mode }).model));
      const same = await runCommand(await commandOf(page), { [`${name}.onnx`]: modelBytes(name) }, output);
      assert.equal(sha256(same), sha256(bytes), 'the command line gives the same bytes');
      const decibels = await nativeDrift(modelPath(name), bytes, join(ROOT, `tests/data/${name}/eval`));
      assert.ok(decibels > 25, `${decibels} dB`);
    });
  }
}

// Ranges that were learned from dropped files go beside the command.
for (const [, name] of SAMPLES) {
  onPage(`${name}, static with dropped files: command, ranges and plan give the downloaded bytes`, { skip: unbuilt }, async (page) => {
    const files = (folder) => readdirSync(join(ROOT, `tests/data/${name}`, folder)).filter((file) => file.endsWith('.npz'))
      .map((file) => join(ROOT, `tests/data/${name}`, folder, file));
    await page.locator('input[type=file]').first().setInputFiles([modelPath(name)]);
    await page.getByText('Static', { exact: true }).click();
    await page.getByRole('region', { name: 'Samples to learn ranges from' }).locator('input[type=file]').first()
      .setInputFiles(files('calib'));
    await page.getByRole('region', { name: 'Samples to check on' }).locator('input[type=file]').first()
      .setInputFiles(files('eval'));
    await page.getByRole('button', { name: 'Quantize', exact: true }).click();
    await measured(page);
    const model = await saved(page, `Download ${name}.int8.onnx`);
    const ranges = await saved(page, 'Ranges as JSON'), plan = await saved(page, 'Plan as JSON');
    const command = await commandOf(page), source = { [`${name}.onnx`]: modelBytes(name) };
    assert.match(command, new RegExp(`--ranges ${name}.ranges.json`));
    const same = await runCommand(command, { ...source, [ranges.name]: ranges.bytes }, model.name);
    assert.equal(sha256(same), sha256(model.bytes), 'from the ranges');
    const planned = `octet quantize ${name}.onnx -o out.onnx --target wasm --plan ${plan.name}`;
    const again = await runCommand(planned, { ...source, [plan.name]: plan.bytes }, 'out.onnx');
    assert.equal(sha256(again), sha256(model.bytes), 'from the plan');
    const decibels = await nativeDrift(modelPath(name), model.bytes, join(ROOT, `tests/data/${name}/eval`));
    assert.ok(decibels > 25, `${decibels} dB`);
  });
}

// What a search found stands in the plan; the command line need not search again.
onPage('a run that measured its way: the shown command and its plan give the bytes', { skip: unbuilt }, async (page, { url }) => {
  await page.goto(`${url}#mode=static&equalize=true&bias_correction=true`);
  await page.reload();
  await page.getByRole('button', { name: 'Digits' }).click();
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await measured(page);
  const command = await commandOf(page);
  assert.match(command, /--plan digits_cnn\.int8\.plan\.json/);
  const model = await saved(page, 'Download digits_cnn.int8.onnx'), plan = await saved(page, 'Plan as JSON');
  const files = { 'digits_cnn.onnx': modelBytes('digits_cnn'), [plan.name]: plan.bytes };
  assert.equal(sha256(await runCommand(command, files, model.name)), sha256(model.bytes));
});

onPage('weights in a file of their own come along, with the same bytes', { skip: unbuilt }, async (page, { url }) => {
  await page.goto(`${url}#external_data=true`);
  await page.reload();
  await make(page, 'Small GPT', 'Weights only');
  const model = await saved(page, 'Download gpt_char.int8.onnx'), data = await saved(page, 'Download gpt_char.int8.onnx.data');
  const command = await commandOf(page), source = { 'gpt_char.onnx': modelBytes('gpt_char') };
  assert.equal(sha256(await runCommand(command, source, model.name)), sha256(model.bytes));
  assert.equal(sha256(await runCommand(command, source, data.name)), sha256(data.bytes));
});

onPage('draws size, latency and drift with their numbers', {}, async (page) => {
  await make(page, 'Digits', 'Weights only');
  const { report: { sizes } } = quantize('digits_cnn', { mode: 'weights' });
  const kilobytes = (bytes) => `${(bytes / 1e3).toFixed(1)} KB`;
  const label = async (name) => page.getByRole('img', { name }).getAttribute('aria-label');
  assert.equal(await label('Size:'), `Size: FP32 ${kilobytes(sizes.input_bytes)}, This run ${kilobytes(sizes.output_bytes)}`);
  assert.match(await label('Medians:'), /^Medians: FP32 with 1 thread [\d.]+ ms, This run with 1 thread [\d.]+ ms/);

  // Bars begin at zero: their lengths are as their numbers.
  const widths = await page.getByRole('img', { name: 'Size:' }).locator('rect.mark').evaluateAll((bars) =>
    bars.map((bar) => bar.width.baseVal.value));
  assert.ok(Math.abs(widths[0] / widths[1] - sizes.input_bytes / sizes.output_bytes) < 0.02, `${widths}`);
  const dots = page.getByRole('img', { name: 'Medians:' }).locator('circle');
  assert.ok(await dots.count() >= 20, 'a dot for every timing');

  const numbers = page.locator('figure', { has: page.getByText('Latency', { exact: true }) });
  await numbers.getByText('Numbers').click();
  const cells = await numbers.getByRole('row').nth(1).getByRole('cell').allTextContents();
  assert.equal(cells.length, 7, 'threads, median, quarters, fastest, slowest, timed');
  for (const time of cells.slice(1, 6)) assert.match(time, /^[\d.]+ ms$/);
  assert.match(await page.getByRole('heading', { level: 2, name: /smaller/ }).textContent(), /(in this browser|noise \(.*\)), \d+ dB/);
});

onPage('keeps the places of what comes later', {}, async (page) => {
  await page.getByRole('button', { name: 'Digits' }).click();
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await page.getByText('Appears once both models have run.').first().waitFor();
  const top = () => page.locator('.take').evaluate((element) => element.getBoundingClientRect().top + scrollY);
  const before = await top();
  await measured(page);
  const moved = Math.abs(await top() - before);
  assert.ok(moved < 40, `what stands below moved by ${moved} pixels`);
});

onPage('gives a report that opens anywhere, without scripts, and escapes what models say', { skip: unbuilt }, async (page) => {
  const buffer = Buffer.from(modelBytes('digits_cnn'));
  await page.locator('input[type=file]').first().setInputFiles([{ name: '<img src=x onerror=alert(1)>.onnx', mimeType: '', buffer }]);
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await measured(page);
  const report = await saved(page, 'Report');
  const text = report.bytes.toString();
  assert.doesNotMatch(text.replaceAll('&lt;img src=x onerror', ''), /<script|<img|https?:|\bsrc=|\bhref=|\bon\w+=/);
  assert.match(text, /&lt;img src=x onerror=alert\(1\)&gt;\.onnx/);
  assert.ok(report.bytes.length < 200_000, `${report.bytes.length} bytes`);

  await inFolder({ 'report.html': report.bytes }, async (folder) => {
    const elsewhere = await page.context().browser().newContext({ javaScriptEnabled: false, viewport: PHONE });
    const other = await elsewhere.newPage(), said = [];
    other.on('console', (message) => said.push(message.text()));
    other.on('request', (request) => said.push(...(/^file:/.test(request.url()) ? [] : [request.url()])));
    await other.goto(pathToFileURL(join(folder, 'report.html')).href);
    await other.getByRole('heading', { level: 1, name: /smaller/ }).waitFor();
    assert.equal(await other.getByRole('img').count(), 3, 'size, latency, drift');
    await other.getByText('Numbers').first().click();
    await other.getByRole('cell').first().waitFor();
    const { width } = await other.locator('main').boundingBox();
    assert.ok(width <= PHONE.width, `${width} pixels`);
    assert.deepEqual(said, []);
    await elsewhere.close();
  });
});

onPage('gives all it knows as JSON', {}, async (page) => {
  await make(page, 'Digits', 'Dynamic');
  const { name, bytes } = await saved(page, 'Report as JSON');
  assert.equal(name, 'digits_cnn.int8.report.json');
  const report = JSON.parse(bytes);
  const { report: made } = quantize('digits_cnn', { mode: 'dynamic' });
  assert.deepEqual(report.plan, made.plan);
  assert.deepEqual(report.sizes, made.sizes);
  assert.equal(report.verified, true);
  assert.equal(report.comparison.drift[0].name, 'logits');
  assert.ok(report.comparison.latency_by_threads[0].candidate_ms.length >= 5);
  assert.equal(report.command_line, await commandOf(page));
  const plan = await saved(page, 'Plan as JSON');
  assert.deepEqual(JSON.parse(plan.bytes), made.plan);
});

onPage('says what is not verified, and why', {}, async (page) => {
  await page.getByRole('button', { name: 'Small GPT' }).click();
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await page.getByText(/being measured/).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: /smaller\. Not verified: it was cancelled\./ }).waitFor();
  assert.equal(await page.getByText('Not measured: the models were not run.').count(), 2);
});

onPage('fits a phone, numbers and all', { viewport: PHONE, colorScheme: 'dark' }, async (page) => {
  await make(page, 'Digits', 'Dynamic');
  for (const summary of await page.getByText('Numbers').all()) await summary.click();
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= room, `${wide} pixels in ${room}`);
  const outside = await page.locator('.chart svg text').evaluateAll((texts) => texts
    .filter((text) => text.getBoundingClientRect().left < -1 || text.getBoundingClientRect().right > innerWidth + 1)
    .map((text) => text.textContent));
  assert.deepEqual(outside, [], 'words outside the window');
});
