// Where quantized models lose, with onnxruntime-web, beside what the command line says of the same models.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { rangesOf } from './calibrated.mjs';
import { compareLayers } from './layer_runs.mjs';
import { ROOT } from './load_octet.mjs';
import { errorOf, modelBytes, modelPath, MODELS, octet, quantize } from './octet_runs.mjs';
import { samplesOf } from './read_npz.mjs';

const program = process.env.OCTET_EXECUTABLE ?? join(ROOT, 'build/native/octet');
const skip = existsSync(program) ? false : 'the command line is not built (scripts/octet builds it)';
const folder = mkdtempSync(join(tmpdir(), 'octet-layers-'));
after(() => rmSync(folder, { recursive: true }));

// Another runtime's last bits tip a rounding here and there.
const WITHIN_DB = 1;
const EQUAL_DB = 200;

function native(name, model) {
  const path = join(folder, `${name}.onnx`);
  writeFileSync(path, model);
  const data = join(ROOT, 'tests/data', name, 'eval');
  const words = ['compare', modelPath(name), path, '--layers', '--json', '--data', data];
  return JSON.parse(execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })).layers;
}

const floatModel = (name) => ({ name: `${name}.onnx`, model: modelBytes(name) });

// Equal but for drifts, which are near.
function near(here, there, where) {
  assert.deepEqual(Object.keys(here).sort(), Object.keys(there).sort(), where);
  for (const key of Object.keys(here).filter((key) => !['xmodel_err', 'qdq_err'].includes(key)))
    assert.deepEqual(here[key], there[key], `${where} ${key}`);
  for (const key of ['xmodel_err', 'qdq_err'].filter((key) => key in here)) {
    const [a, b] = [here[key], there[key]];
    assert.deepEqual(Object.keys(a).sort(), Object.keys(b).sort(), `${where} ${key}`);
    for (const same of ['comparable', 'finite', 'elements']) assert.equal(a[same], b[same], `${where} ${key} ${same}`);
    const apart = Math.abs(a.sqnr_db - b.sqnr_db), figures = `${where} ${key}: ${JSON.stringify([a, b])}`;
    // What differs by float rounding alone is equal in one runtime and nearly so in the other.
    assert.ok(apart <= WITHIN_DB || Math.min(a.sqnr_db, b.sqnr_db) > 100, figures);
    assert.ok(Math.abs(a.max_abs - b.max_abs) <= 0.01 * b.max_abs + 1e-6, figures);
  }
}

// Logarithms differ there.
const withoutLastBits = ({ sqnr_db, ...weight }) => ({ ...weight, sqnr_db: sqnr_db.toFixed(9) });
const byName = (list) => Object.fromEntries(list.map((entry) => [entry.value, entry]));

for (const name of MODELS) {
  for (const options of [{ mode: 'static' }, { mode: 'static', format: 'qoperator' }, { mode: 'weights' }]) {
    test(`${name} ${JSON.stringify(options)}: as the command line says`, { skip }, async () => {
      const ranges = options.mode === 'static' ? await rangesOf(name) : undefined;
      const { model } = quantize(name, options, { ranges });
      const there = native(name, model);
      const here = await compareLayers(floatModel(name), { model }, samplesOf(name, 'eval'), {
        description: there.samples_description,
      });
      const { values, weights, ...rest } = here, { values: wanted, weights: stored, ...others } = there;
      assert.deepEqual(rest, others);
      assert.deepEqual(weights.map(withoutLastBits), stored.map(withoutLastBits));
      assert.ok(values.length > 0);
      if (options.mode === 'static' && !options.format) assert.ok(values.some(({ qdq_err }) => qdq_err));
      assert.deepEqual(Object.keys(byName(values)).sort(), Object.keys(byName(wanted)).sort());
      for (const value of wanted) near(byName(values)[value.value], value, value.value);
    });
  }
}

test('slices change nothing, and what was added before they were planned is gone', async () => {
  const { model } = quantize('digits_cnn', {}, { ranges: await rangesOf('digits_cnn') });
  const samples = samplesOf('digits_cnn', 'eval').slice(0, 2);
  const whole = await compareLayers(floatModel('digits_cnn'), { model }, samples);
  const cut = await compareLayers(floatModel('digits_cnn'), { model }, samples, { budget: 1e5 });
  assert.equal(whole.runs, 1);
  assert.ok(cut.runs > 3);
  assert.deepEqual({ ...cut, runs: 1 }, whole);
});

test('the worst rounding comes first', async () => {
  const { model } = quantize('digits_cnn', {}, { ranges: await rangesOf('digits_cnn') });
  const { values, weights } = await compareLayers(floatModel('digits_cnn'), { model }, samplesOf('digits_cnn', 'eval'));
  const rounding = values.filter(({ qdq_err }) => qdq_err).map(({ qdq_err }) => qdq_err.sqnr_db);
  assert.deepEqual(rounding, [...rounding].sort((a, b) => a - b));
  assert.ok(values.slice(0, rounding.length).every(({ qdq_err }) => qdq_err));
  const stored = weights.map(({ sqnr_db }) => sqnr_db);
  assert.deepEqual(stored, [...stored].sort((a, b) => a - b));
});

test('external data is found on both sides, and a model is equal to itself', async () => {
  const { model, external } = quantize('digits_cnn', { mode: 'weights', external_data: true });
  const source = { name: 'm.onnx', model, open: () => external };
  const { values } = await compareLayers(source, source, samplesOf('digits_cnn', 'eval').slice(0, 1));
  assert.ok(values.length > 5);
  for (const { value, xmodel_err } of values) assert.equal(xmodel_err.sqnr_db, EQUAL_DB, value);
  const error = errorOf({ reference: { model }, candidate: source }, octet.start_layers);
  assert.equal(error.code, 'read');
});

test('what is wrong comes back as a failure', () => {
  const source = floatModel('digits_cnn');
  assert.equal(errorOf({ reference: source }, octet.start_layers).where, 'candidate');
  const broken = { reference: source, candidate: { model: new Uint8Array(3) } };
  assert.equal(errorOf(broken, octet.start_layers).code, 'malformed');
  const { layers } = octet.start_layers({ reference: source, candidate: source });
  try {
    const failed = (call, request) => errorOf(request, (given) => layers[call](given));
    assert.equal(failed('plan_slices', {}).where, 'sample');
    assert.equal(failed('begin_sample', { sample: {} }).code, 'data');
    layers.begin_sample({ sample: samplesOf('digits_cnn', 'eval')[0] });
    assert.equal(failed('plan_slices', { budget: 'much' }).where, 'budget');
    assert.equal(layers.plan_slices({}).slices.length, 1);
    assert.match(failed('slice_model', { slice: 1, which: 'candidate' }).message, /there are 1/);
    assert.equal(failed('slice_model', { slice: 0, which: 'both' }).where, 'which');
    assert.equal(failed('add', { slice: 0, reference: {} }).code, 'data');
    assert.equal(layers.add({ slice: 0, reference: {}, candidate: {} }).samples, 1);
  } finally {
    layers.delete();
  }
});
