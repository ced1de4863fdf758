// Samples from files through the module: the same as the command line reads, and what is wrong with them in words.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { learn } from './calibrated.mjs';
import { ROOT } from './load_octet.mjs';
import { errorOf, modelBytes, modelPath, MODELS, octet } from './octet_runs.mjs';
import { entriesOf, samplesOf } from './read_npz.mjs';
import { png, tensorProto } from './sample_bytes.mjs';

const program = process.env.OCTET_EXECUTABLE ?? join(ROOT, 'build/native/octet');
const skip = existsSync(program) ? false : 'the command line is not built (scripts/octet builds it)';

const floatModel = (name) => ({ name: `${name}.onnx`, model: modelBytes(name) });

// Opened, used and deleted.
function withSamples(files, use, options = {}, model = 'digits_cnn') {
  const opened = octet.open_samples({ ...floatModel(model), files, options });
  assert.equal(opened.error, undefined, opened.error?.message);
  try {
    return use(opened.samples);
  } finally {
    opened.samples.delete();
  }
}

// All samples of `files`, { path: bytes, or entries of a .npz }.
function readAll(files, options, model) {
  const paths = Object.keys(files);
  return withSamples(paths, (samples) => Array.from({ length: samples.count() }, (_, i) => {
    const { files: places, archive } = samples.files(i), contents = places.map((place) => files[paths[place]]);
    const read = samples.read(i, archive ? contents[0] : contents);
    assert.equal(read.error, undefined, read.error?.message);
    return read;
  }), options, model);
}

function refused(files, options) {
  const paths = Object.keys(files);
  return withSamples(paths, (samples) => {
    const { files: places, archive } = samples.files(0), contents = places.map((place) => files[paths[place]]);
    return errorOf(contents, () => samples.read(0, archive ? contents[0] : contents));
  }, options);
}

const floats = ({ data }) => [...new Float32Array(data.slice().buffer)];
const levels = Float32Array.from({ length: 64 }, (_, i) => i / 8);
const raw = new Uint8Array(levels.buffer);

for (const name of MODELS) {
  test(`${name}: the samples in the tree, as another reader reads them`, () => {
    const folder = join(ROOT, 'tests/data', name, 'calib');
    const names = readdirSync(folder).filter((file) => file.endsWith('.npz')).sort();
    // Given in any order, beside what is no sample.
    const files = Object.fromEntries(names.toReversed().map((file) => [`calib/${file}`, entriesOf(join(folder, file))]));
    const read = readAll({ ...files, 'calib/labels.json': new Uint8Array() }, {}, name);
    assert.deepEqual(read.map((sample) => sample.name), names);
    assert.deepEqual(read.map(({ sample }) => sample), samplesOf(name, 'calib'));
  });
}

test('.npy, .pb, raw numbers and test data give what is in them', () => {
  const [first] = samplesOf('digits_cnn', 'calib');
  const folder = join(ROOT, 'tests/data/digits_cnn/calib');
  const [npy] = Object.values(entriesOf(join(folder, readdirSync(folder).filter((file) => file.endsWith('.npz')).sort()[0])));
  const proto = tensorProto('', [1, 1, 8, 8], levels);
  const wanted = [...levels];
  assert.deepEqual(readAll({ 'a.npy': npy })[0].sample, first);
  for (const files of [
    { 'a.pb': proto }, { 'a.raw': raw }, { 'a.bin': raw }, { 'input_0.pb': proto, 'output_0.pb': raw },
    { 'test_data_set_0/input_0.pb': proto, 'test_data_set_0/output_0.pb': raw, 'model.onnx': raw },
  ]) {
    const read = readAll(files);
    assert.equal(read.length, 1);
    assert.deepEqual(Object.keys(read[0].sample), ['image']);
    assert.deepEqual(read[0].sample.image.dims, [1, 1, 8, 8]);
    assert.deepEqual(floats(read[0].sample.image), wanted, Object.keys(files)[0]);
  }
});

test('pictures become what the model takes, and what a preview takes is told', () => {
  const files = { 'p/b.png': png(8, 8, (row, column) => 8 * row + column), 'p/a.png': png(16, 8, () => [0, 0, 255]) };
  const options = { image: { image_fit: 'crop', image_scale: 0.5, image_mean: 1, image_std: [2] } };
  const [blue, slope] = readAll(files, options);
  assert.deepEqual([blue.name, slope.name], ['a.png', 'b.png']);
  assert.deepEqual(floats(slope.sample.image), Array.from(levels, (_, i) => (i / 2 - 1) / 2));
  assert.equal(new Set(floats(blue.sample.image)).size, 1);
  withSamples(Object.keys(files), (samples) => assert.deepEqual(samples.describe(), {
    count: 1, total: 2, picture: true,
    description: '1 of 2 pictures from p, shuffled with seed 7 (gray, nchw, 8x8 by crop, scale 0.5, mean 1, std 2)',
    image: { layout: 'nchw', channels: 1, width: 8, height: 8, order: 'rgb', scale: 0.5, mean: [1], std: [2] },
  }), { ...options, limit: 1, shuffle: 7 });
  withSamples(['a.npy'], (samples) => {
    const { picture, image, description } = samples.describe();
    assert.deepEqual([picture, image.channels, description], [false, 1, '1 sample from a.npy']);
  });
  withSamples(['a.npy'], (samples) => assert.equal(samples.describe().image, null), {}, 'gpt_char');
});

// Of the model's input nothing is rounded by a runtime: every value that the page saw is one that the command line saw.
test('pictures calibrate to the numbers of the command line', { skip }, async () => {
  const wave = (row, column) => (37 * row + 11 * column + row * column) % 256;
  const files = {
    '0.png': png(31, 17, (row, column) => [wave(row, column), wave(column, row), (row * 13) % 256]),
    '1.png': png(9, 20, wave), '2.png': png(8, 8, wave), '3.png': png(5, 3, wave),
  };
  const folder = mkdtempSync(join(tmpdir(), 'octet-samples-'));
  try {
    mkdirSync(join(folder, 'calib'));
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, 'calib', name), bytes);
    for (const image_fit of ['stretch', 'crop', 'pad']) {
      const output = join(folder, `${image_fit}.json`), words = ['--calib', join(folder, 'calib'), '-o', output];
      const flags = ['--image-fit', image_fit, '--image-mean', '0.45', '--image-std', '0.225'];
      execFileSync(program, ['calibrate', modelPath('digits_cnn'), ...words, ...flags], { stdio: 'ignore' });
      const image = { image_fit, image_mean: 0.45, image_std: 0.225 };
      const samples = readAll(files, { image }).map(({ sample }) => sample);
      const { ranges } = await learn('digits_cnn', {}, {}, samples);
      const seen = (text) => JSON.parse(text).tensors.find(({ tensor, name }) => (tensor ?? name) === 'image');
      assert.ok(seen(ranges));
      assert.deepEqual(seen(ranges), seen(readFileSync(output, 'utf8')), image_fit);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('what is wrong with a sample names the file, the input, what was found and what is wanted', () => {
  const said = (files, options) => {
    const { code, message } = refused(files, options);
    assert.equal(code, 'data', message);
    return message;
  };
  assert.match(said({ 'd/a.raw': raw.subarray(4) }), /^d\/a.raw: holds 252 bytes, input 'image' is float32 \[-1,1,8,8\]/);
  assert.match(said({ 'a.png': raw }), /^a.png: is no readable picture: /);
  assert.match(said({ 'a.npz': { 'x.npy': raw } }), /^a.npz: 'x': is no .npy array/);
  assert.match(said({ 'a.npz': {} }), /^a.npz: lacks input 'image': it holds nothing, the model wants 'image'/);
  assert.match(said({ 'a.pb': tensorProto('x', [1, 2], [1, 2]) }),
    /^a.pb: input 'image' is float32 \[1,2\], the model wants float32 \[-1,1,8,8\]/);
  assert.equal(refused({ 'a.pb': raw }).where, 'a.pb');
});

test('what is wrong with a request comes back as a failure', () => {
  const failed = (more) => errorOf({ ...floatModel('digits_cnn'), files: ['a.npy'], ...more }, octet.open_samples);
  assert.match(failed({ files: ['d/a.txt', 'd/b.txt'] }).message, /^d: holds no samples: .npz/);
  assert.match(failed({ files: ['a.txt'] }).message, /^a.txt: is no sample: .npz/);
  assert.equal(failed({ files: [] }).code, 'data');
  assert.equal(failed({ files: 'a.npy' }).where, 'files');
  assert.equal(failed({ files: [1] }).where, 'files');
  assert.equal(failed({ options: { limits: 1 } }).where, 'limits');
  for (const limit of [-1, 0.5, '1', NaN]) assert.equal(failed({ options: { limit } }).where, 'limit');
  assert.equal(failed({ options: { image: { mean: 1 } } }).code, 'usage');
  assert.equal(failed({ model: raw }).code, 'malformed');
  const taken = failed({ ...floatModel('gpt_char'), files: ['a.png', 'b.png'] });
  assert.match(taken.message, /holds pictures, input 'idx' is int64/);
  withSamples(['a.npy'], (samples) => {
    assert.match(errorOf(1, (i) => samples.files(i)).message, /sample 1: there are 1/);
    assert.equal(errorOf([], (contents) => samples.read(0, contents)).where, 'a.npy');
    assert.equal(errorOf(['text'], (contents) => samples.read(0, contents)).code, 'usage');
  });
  withSamples(['a.npz'], (samples) => {
    assert.equal(errorOf(undefined, (contents) => samples.read(0, contents)).code, 'usage');
    assert.match(errorOf({ 'x.npy': 1 }, (contents) => samples.read(0, contents)).message, /^a.npz: 'x': is not given/);
  });
});
