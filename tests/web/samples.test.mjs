// Samples: what static mode learns from and what is checked on, real or made up.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { ROOT } from '../wasm/load_octet.mjs';
import { modelBytes, modelPath } from '../wasm/octet_runs.mjs';
import { waveModel } from './greedy_model.mjs';
import { nativeDrift, onPage, saved, unbuilt } from './on_page.mjs';
import { area, fileOf, giveSamples, measured } from './page_steps.mjs';

const data = (name, part) => join(ROOT, 'tests/data', name, part);
const samplesOf = (name, part) => {
  const folder = data(name, part);
  return readdirSync(folder).filter((file) => file.endsWith('.npz')).map((file) => join(folder, file));
};


async function openBare(page) {
  await page.locator('input[type=file]').first().setInputFiles([fileOf('mine.onnx', modelBytes('digits_cnn'))]);
  await page.getByRole('radio', { name: 'Static' }).check();
}

onPage('quantizes the digits statically with the samples that come with them', { skip: unbuilt }, async (page) => {
  await page.getByRole('button', { name: 'Digits' }).click();
  await page.getByRole('radio', { name: 'Static' }).check();
  await area(page, 'Samples to learn ranges from').getByText('8 samples: enough to try').waitFor();
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await measured(page);
  await page.getByText('Ranges from 8 samples from 8 files').waitFor();
  const { bytes } = await saved(page, 'Download digits_cnn.int8.onnx');
  const decibels = await nativeDrift(modelPath('digits_cnn'), bytes, data('digits_cnn', 'eval'));
  assert.ok(decibels > 25, `${decibels} dB`);
});

onPage('corrects biases and holds a floor where that is asked for', {}, async (page) => {
  await page.getByRole('button', { name: 'Digits' }).click();
  await page.getByRole('radio', { name: 'Static' }).check();
  await page.locator('.options summary').click();
  await page.getByLabel('Correct biases').check();
  await page.getByLabel('Floor of quality, in dB').fill('60');
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await measured(page);
  const notes = JSON.parse((await saved(page, 'Plan as JSON')).bytes).notes.join('\n');
  assert.match(notes, /bias/);
  assert.match(notes, /floor/);
});

onPage('takes dropped samples, says that they are few, and quantizes with them', { skip: unbuilt }, async (page) => {
  await openBare(page);
  await page.getByRole('button', { name: 'Add samples to quantize' }).click();
  assert.match(await page.locator(':focus').textContent(), /Choose files/);
  await giveSamples(page, 'Samples to learn ranges from', samplesOf('digits_cnn', 'calib').slice(0, 5));
  await page.getByText('5 samples: enough to try').waitFor();
  await giveSamples(page, 'Samples to check on', samplesOf('digits_cnn', 'eval'));
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await measured(page);
  await page.getByText('Ranges from 5 samples').waitFor();
  const { bytes } = await saved(page, 'Download mine.int8.onnx');
  const decibels = await nativeDrift(modelPath('digits_cnn'), bytes, data('digits_cnn', 'eval'));
  assert.ok(decibels > 20, `${decibels} dB`);
});

onPage('offers made-up inputs where static mode has none, and calls them that', {}, async (page) => {
  await openBare(page);
  await page.getByRole('button', { name: 'use made-up inputs', exact: true }).click();
  await page.getByText('Ranges of made-up inputs say little of real ones').waitFor();
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
  await measured(page);
  await page.getByText('whose ranges say little of real ones').waitFor();
  await area(page, 'Samples to learn ranges from').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Add samples to quantize' }).waitFor();
});

onPage('says what is wrong with a sample, where it was dropped', {}, async (page) => {
  await openBare(page);
  await giveSamples(page, 'Samples to learn ranges from', samplesOf('gpt_char', 'calib').slice(0, 1));
  const sets = area(page, 'Samples to learn ranges from');
  assert.match(await sets.getByRole('alert').textContent(), /0000\.npz.*image/);
});

const pixels = (page) => page.locator('canvas').first().evaluate((canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return [canvas.width, canvas.height, ...data.filter((_, i) => i % 4 === 0)];
});

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]), frame = Buffer.alloc(body.length + 8);
  frame.writeUInt32BE(data.length, 0);
  body.copy(frame, 4);
  frame.writeUInt32BE(crc32(body), body.length + 4);
  return frame;
}

// Of 8 bits grey.
function png(width, height, values) {
  const header = Buffer.alloc(13), rows = Buffer.alloc(height * (width + 1));
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0], 8);
  values.forEach((value, i) => { rows[Math.floor(i / width) * (width + 1) + 1 + (i % width)] = value; });
  const magic = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([magic, ...parts]);
}

onPage('shows pictures as the model will see them, and what they become', {}, async (page) => {
  await openBare(page);
  const values = Array.from({ length: 64 }, (_, i) => i * 4);
  await giveSamples(page, 'Samples to check on', [fileOf('a.png', png(8, 8, values)), fileOf('b.png', png(8, 8, values.reverse()))]);
  await page.getByRole('img', { name: 'image as the model sees it' }).first().waitFor();
  values.reverse();
  // The recipe changes what the model gets; the picture is what it was before.
  await page.getByLabel('Mean', { exact: true }).fill('0.5');
  await page.getByLabel('Mean', { exact: true }).press('Tab');
  await page.getByText(/mean 0\.5/).waitFor();
  assert.match(page.url(), /image_mean=0\.5/);
  assert.deepEqual(await pixels(page), [8, 8, ...values]);
});

onPage('shows sound as a waveform, and numbers as numbers', {}, async (page) => {
  const given = (name, bytes) => page.locator('input[type=file]').first().setInputFiles([fileOf(name, bytes)]);
  await given('wave.onnx', waveModel(400));
  const sound = Float32Array.from({ length: 400 }, (_, i) => Math.sin(i / 9));
  await giveSamples(page, 'Samples to check on', [fileOf('tone.raw', Buffer.from(sound.buffer))]);
  await page.getByRole('img', { name: 'x as a waveform' }).waitFor();
  await page.getByRole('button', { name: 'Another model' }).click();
  await page.getByRole('button', { name: 'Small GPT' }).click();
  const numbers = page.locator('.numbers').first();
  assert.match(await numbers.textContent(), /^(\d+ ){12}…$/);
});

onPage('takes a folder with both kinds of samples apart, and as many as are asked for', {}, async (page) => {
  await openBare(page);
  const folder = area(page, 'Samples to check on').locator('input[type=file]').last();
  await folder.setInputFiles(join(ROOT, 'tests/data/digits_cnn'));
  for (const name of ['Samples to learn ranges from', 'Samples to check on']) {
    await area(page, name).getByText('8 files', { exact: true }).waitFor();
  }
  await area(page, 'Samples to check on').getByText('labels.json', { exact: true }).waitFor();
  await page.getByText('Which samples are taken').click();
  await page.getByLabel('At most', { exact: true }).fill('3');
  await page.getByLabel('At most', { exact: true }).press('Enter');
  await measured(page);
  await page.getByText('Ranges from 3 samples').waitFor();
  assert.match(page.url(), /limit=3/);
});
