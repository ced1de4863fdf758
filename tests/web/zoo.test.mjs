// Two real models, as a person goes through them: every mode, samples dropped, the layers that lose, one of them kept in
// float, two runs side by side, work cancelled, and the download run in the native runtime.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { before } from 'node:test';
import { ROOT } from '../wasm/load_octet.mjs';
import { nativeDrift, onPage, saved, unbuilt } from './on_page.mjs';
import { area, findLayers, giveSamples, measured, rows, twoMarked } from './page_steps.mjs';

// A convolutional detector of 12 MB, and a text classifier of 3 MB that takes integers.
const MODELS = { nudenet: { floor: 20 }, magika: { floor: 20 } };
const SAMPLES = 4;

const cache = process.env.OCTET_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'octet');
const zoo = join(cache, 'zoo');
const samplesOf = (part, name) => {
  const folder = join(zoo, part, name);
  return readdirSync(folder).filter((file) => file.endsWith('.npz')).sort().slice(0, SAMPLES).map((file) => join(folder, file));
};

before(() => {
  if (Object.keys(MODELS).every((name) => existsSync(join(zoo, 'models', `${name}.onnx`)))) return;
  const python = process.env.OCTET_PYTHON ?? 'python3';
  execFileSync(python, [join(ROOT, 'tests/zoo/fetch_zoo.py'), '--only', Object.keys(MODELS).join(',')], { stdio: 'ignore' });
});

const mode = (page, name) => page.getByRole('radio', { name }).check();
const quantize = (page) => page.getByRole('button', { name: 'Quantize', exact: true }).click();
const done = async (page, count) => {
  await rows(page).nth(count - 1).waitFor();
  assert.equal(await rows(page).count(), count);
  await page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' });
  await measured(page);
};

async function open(page, name) {
  await page.locator('input[type=file]').first().setInputFiles([join(zoo, 'models', `${name}.onnx`)]);
  await page.getByRole('heading', { name: `${name}.onnx` }).waitFor();
  await giveSamples(page, 'Samples to check on', samplesOf('eval', name));
}

for (const [name, { floor }] of Object.entries(MODELS)) {
  onPage(`${name}: every mode, layers, two runs, download`, { skip: unbuilt, timeout: 600_000 }, async (page) => {
    page.setDefaultTimeout(60_000);
    await open(page, name);
    await mode(page, 'Weights only');
    await quantize(page);
    await done(page, 1);
    assert.match(await page.locator('.verdict').textContent(), /smaller/);
    await mode(page, 'Dynamic');
    await done(page, 2);

    await mode(page, 'Static');
    await giveSamples(page, 'Samples to learn ranges from', samplesOf('calib', name));
    await done(page, 3);
    for (const picture of [/^Size:/, /^Medians:/, /^Drift/]) await page.getByRole('img', { name: picture }).first().waitFor();

    const { bytes } = await saved(page, `Download ${name}.int8.onnx`);
    const model = join(zoo, 'models', `${name}.onnx`);
    assert.ok(bytes.length < 0.6 * readFileSync(model).length);
    const decibels = await nativeDrift(model, bytes, join(zoo, 'eval', name));
    assert.ok(decibels > floor, `${decibels} dB in the native runtime`);

    await findLayers(page);
    await area(page, 'Layers and what each loses').getByRole('button').first().click();
    await page.locator('.layer-detail').getByRole('button', { name: /in float/ }).first().click();
    await done(page, 4);
    await page.locator('.command code', { hasText: '--nodes-to-exclude' }).waitFor();

    await twoMarked(page);
    await area(page, 'A and B side by side').getByText(/They differ in/).waitFor();
  });
}

onPage('cancels the work on a real model, and goes on', { timeout: 300_000 }, async (page) => {
  page.setDefaultTimeout(40_000);
  await open(page, 'nudenet');
  await mode(page, 'Static');
  await giveSamples(page, 'Samples to learn ranges from', samplesOf('calib', 'nudenet'));
  await quantize(page);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' });
  assert.equal(await rows(page).count(), 0, 'nothing half-done is left');
  await mode(page, 'Weights only');
  await quantize(page);
  await done(page, 1);
});
