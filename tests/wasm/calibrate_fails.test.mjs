// How calibration and static mode fail: one typed error, nothing held.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calibrate } from './package.mjs';
import { learn, rangesOf } from './calibrated.mjs';
import { errorOf, modelBytes, octet, quantize } from './octet_runs.mjs';
import { samplesOf } from './read_npz.mjs';
import { ort } from './web_runtime.mjs';

const digits = await rangesOf('digits_cnn');
const changed = (change) => {
  const ranges = JSON.parse(digits);
  change(ranges);
  return ranges;
};

const refused = [
  ['static mode without ranges', { options: { mode: 'static' } }, 'usage', /needs the ranges/],
  ['ranges for another mode', { options: { mode: 'dynamic' }, ranges: digits }, 'usage', /static mode/],
  ['ranges of another model', { ranges: await rangesOf('gpt_char') }, 'usage', /another model/],
  ['ranges of the model as exported', { options: { prepare: false }, ranges: digits }, 'usage', /another model/],
  ['ranges that lack a value', { ranges: changed((ranges) => { ranges.tensors = []; }) }, 'usage', /lack the value/],
  ['no JSON', { ranges: '{"octet_ranges": 1, ' }, 'malformed', /no JSON/],
  ['an empty text', { ranges: '' }, 'malformed', /no JSON/],
  ['JSON that is none of ranges', { ranges: {} }, 'malformed', /no Octet ranges/],
  ['a list', { ranges: [] }, 'malformed', /no Octet ranges/],
  ['a number', { ranges: 7 }, 'malformed', /no Octet ranges/],
  ['brackets without end', { ranges: '['.repeat(1e6) }, 'malformed', /no JSON/],
  ['deep brackets', { ranges: '['.repeat(1e6) + ']'.repeat(1e6) }, 'malformed', /no Octet ranges/],
  ['a version to come', { ranges: changed((ranges) => { ranges.octet_ranges = 2; }) }, 'malformed', /version 1/],
  ['tensors that are none', { ranges: changed((ranges) => { ranges.tensors = [1]; }) }, 'malformed', /no object/],
  ['a negative count', { ranges: changed(({ tensors: [first] }) => { first.runs = -1; }) }, 'malformed', /counts/],
  ['counts that do not add up', { ranges: changed(({ tensors: [first] }) => { ++first.zeros; }) }, 'malformed', /sum/],
  ['a huge row', { ranges: changed(({ tensors: [first] }) => { first.rows[0][1] = 1e15; }) }, 'malformed', /too long/],
  ['no number for a minimum', { ranges: changed(({ tensors: [first] }) => { first.min = 'low'; }) }, 'malformed',
    /no number/],
  ['a cycle', { ranges: changed((ranges) => { ranges.self = ranges; }) }, 'usage', /no JSON form/],
  ['a function', { ranges: () => 1 }, 'usage', /no JSON form/],
  ['an unknown method', { options: { method: 'magic' }, ranges: digits }, 'usage', /minmax|none that Octet knows/],
];

for (const [what, request, code, message] of refused) {
  test(`${what}: one typed error, "${code}"`, () => {
    const error = errorOf({ name: 'm.onnx', model: modelBytes('digits_cnn'), ...request });
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
  });
}

test('a plan without its ranges is refused', () => {
  const { report } = octet.inspect_model({ model: modelBytes('digits_cnn'), options: { mode: 'static' } });
  const error = errorOf({ model: modelBytes('digits_cnn'), options: { plan: report.plan } });
  assert.equal(error.code, 'usage');
  assert.match(error.message, /needs the ranges/);
});

test('what cannot be merged is refused', async () => {
  const merge = (parts) => errorOf(parts, octet.merge_ranges);
  assert.equal(merge([]).code, 'usage');
  assert.equal(merge(digits).code, 'usage');
  assert.equal(merge(undefined).code, 'usage');
  assert.equal(merge([digits, '{}']).code, 'malformed');
  assert.match(merge([digits, await rangesOf('gpt_char')]).message, /another model/);
});

// A calibration of digits_cnn, deleted afterwards.
function begun(use, request = {}) {
  const handles = octet.count_emval_handles();
  const started = octet.start_calibration({ model: modelBytes('digits_cnn'), ...request });
  assert.equal(started.error, undefined, started.error?.message);
  try {
    return use(started.calibration, started.taps);
  } finally {
    started.calibration.delete();
    assert.equal(octet.count_emval_handles(), handles);
  }
}

const begin = (calibration) => {
  const [sample] = samplesOf('digits_cnn', 'calib');
  assert.deepEqual(calibration.begin_sample({ sample, name: 'first' }).sample, sample);
};
const floats = (...values) => ({ type: 'float32', dims: [values.length], data: Float32Array.from(values) });

test('what starts no calibration', () => {
  const start = (request) => errorOf({ model: modelBytes('digits_cnn'), ...request }, octet.start_calibration);
  assert.equal(start({ options: { mode: 'dynamic' } }).code, 'usage');
  assert.equal(start({ options: { weight_type: 'qint4' } }).code, 'usage');
  assert.equal(start({ taps: 'some' }).code, 'usage');
  assert.equal(start({ taps: 3 }).code, 'usage');
  assert.equal(start({ model: new Uint8Array(9) }).code, 'malformed');
});

test('samples that do not fit are refused by name', () => {
  begun((calibration) => {
    const data = new Uint8Array(256);
    const error = (sample) => errorOf({ sample, name: 'mine' }, (request) => calibration.begin_sample(request));
    for (const none of [undefined, null, 7, {}, { image: null }, { image: {} }]) assert.equal(error(none).code, 'data');
    assert.equal(error({ image: { type: 'float32', dims: [1, 1, 8, 8], data: new Uint8Array(3) } }).code, 'data');
    assert.equal(error({ image: { type: 'float32', dims: [-1, 1, 8, 8], data } }).code, 'data');
    assert.equal(error({ image: { type: 'float32', dims: 'big', data } }).code, 'data');
    assert.equal(error({ image: { type: 'float32', dims: [1, 1, 8, 8], data: 'bytes' } }).code, 'data');
    const wrong = error({ image: { type: 'float32', dims: [1, 1, 4, 16], data } });
    assert.match(wrong.message, /^mine.*image/);
    assert.equal(wrong.code, 'data');
  });
});

test('segments and values that are not there', () => {
  begun((calibration) => {
    begin(calibration);
    calibration.plan_segments({});
    for (const index of [-1, 1, NaN, '0', undefined]) {
      assert.equal(errorOf(index, (at) => calibration.segment_model(at)).code, 'usage');
    }
    assert.equal(errorOf(floats(1), (tensor) => calibration.observe('nowhere', tensor)).code, 'usage');
    assert.equal(errorOf(null, (budget) => calibration.plan_segments({ budget: budget ?? 'much' })).code, 'usage');
    assert.equal(errorOf({ image: -1 }, (sizes) => calibration.plan_segments({ sizes })).code, 'usage');
    assert.equal(errorOf({}, () => calibration.learned()).code, 'data');
  });
});

test('only finite floats count; the others are told', () => {
  begun((calibration, taps) => {
    const [tap] = taps.filter((name) => name !== 'image');
    const learned = () => JSON.parse(calibration.learned().ranges).tensors.find(({ tensor }) => tensor === tap);
    begin(calibration);
    const observed = (tensor) => calibration.observe(tap, tensor).observed;
    assert.equal(observed({ type: 'int64', dims: [1], data: new BigInt64Array(1) }), false);
    assert.equal(observed(floats()), true);
    assert.equal(observed({ type: 'float64', dims: [], data: Float64Array.of(3) }), true);
    assert.equal(observed(floats(1, NaN, -2, Infinity)), true);
    assert.deepEqual(calibration.end_sample(), { samples: 1 });
    const { runs, values, non_finite, min, max } = learned();
    assert.deepEqual({ runs, values, non_finite, min, max }, { runs: 2, values: 3, non_finite: 2, min: -2, max: 3 });
    const { notes, hint } = calibration.learned();
    const where = 'in 1 of 1 samples, first in first';
    assert.deepEqual(notes, [`'${tap}': 2 values were NaN or infinite ${where}; they are left out`]);
    assert.match(hint, /^calibrated on 1 sample/);
    assert.deepEqual(calibration.forget(), {});
    assert.equal(errorOf({}, () => calibration.learned()).code, 'data');
  });
});

// Rejects with `expected`, and holds nothing afterwards.
async function rejects(work, expected) {
  await assert.rejects(work, expected);
  const handles = octet.count_emval_handles(), before = octet.allocated_bytes();
  await assert.rejects(work, expected);
  assert.equal(octet.count_emval_handles(), handles);
  assert.equal(octet.allocated_bytes(), before);
}

test('an abort ends it at once, with its own reason', async () => {
  const reason = new Error('enough');
  const same = (thrown) => thrown === reason;
  const aborted = AbortSignal.abort(reason);
  await rejects(() => learn('digits_cnn', {}, { signal: aborted }), same);

  await rejects(() => {
    const stop = new AbortController();
    let told = 0;
    const onProgress = () => { if (++told === 3) stop.abort(reason); };
    return learn('digits_cnn', {}, { signal: stop.signal, onProgress, memoryBudget: 1e5 }).finally(() => {
      assert.equal(told, 3);
    });
  }, same);

  let returned = 0;
  await rejects(() => {
    const stop = new AbortController();
    const samples = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => setTimeout(() => stop.abort(reason), 5)),  // never settles
        return: async () => void ++returned,
      }),
    };
    return learn('digits_cnn', {}, { signal: stop.signal }, samples);
  }, same);
  assert.equal(returned, 2);
});

test('failures of samples, callbacks and the runtime arrive, and nothing is held', async () => {
  const [sample] = samplesOf('digits_cnn', 'calib');
  const code = (wanted) => ({ error }) => error.code === wanted;
  await rejects(() => learn('digits_cnn', {}, {}, []), code('data'));
  await rejects(() => learn('digits_cnn', {}, {}, 5), code('usage'));
  await rejects(() => learn('digits_cnn', {}, {}, [sample, { image: floats(1) }]), /^OctetError: sample 2: /);
  await rejects(() => learn('digits_cnn', { mode: 'weights' }), code('usage'));
  await rejects(() => learn('digits_cnn', {}, { onProgress() { throw new Error('mine'); } }), /mine/);
  await rejects(() => learn('digits_cnn', {}, {}, (function* () { yield sample; throw new Error('gone'); })()), /gone/);
  const broken = {
    Tensor: ort.Tensor,
    InferenceSession: { create: async () => ({ run() { throw new Error('out of luck'); }, async release() {} }) },
  };
  await rejects(() => calibrate(octet, broken, modelBytes('digits_cnn'), [sample]), {
    message: 'sample 1: does not run: out of luck',
  });
  quantize('digits_cnn', {}, { ranges: digits });
});
