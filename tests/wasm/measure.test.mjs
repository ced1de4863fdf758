// Samples made up and runs judged: the core's formulas, over plain objects.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorOf, modelBytes, octet, sha256 } from './octet_runs.mjs';

function floats(...values) {
  return { type: 'float32', dims: [1, values.length], data: new Uint8Array(Float32Array.from(values).buffer) };
}

function judge(reference, candidate, more = {}) {
  const runs = [{ reference: { out: reference }, candidate: { out: candidate } }];
  return octet.judge_runs({
    runs, reference_ms: [], candidate_ms: [], input_bytes: 400, output_bytes: 100, synthetic: false, ...more,
  });
}

test('samples fit the inputs of the model', () => {
  const { samples, description, sizes_to_try } = octet.make_samples({ model: modelBytes('digits_cnn'), count: 3 });
  assert.equal(samples.length, 3);
  for (const { image } of samples) {
    assert.deepEqual([image.type, image.dims, image.data.length], ['float32', [1, 1, 8, 8], 256]);
  }
  assert.match(description, /^3 synthetic samples, seed 1: image float32 \[1,1,8,8\], standard normal$/);
  assert.deepEqual(sizes_to_try, []);
  assert.notEqual(sha256(samples[0].image.data), sha256(samples[1].image.data));
});

test('open dimensions take the size asked for, indices stay inside their table', () => {
  const model = modelBytes('gpt_char');
  const { sizes_to_try } = octet.make_samples({ model });
  assert.ok(sizes_to_try.includes(32));
  const { idx } = octet.make_samples({ model, free_size: 32 }).samples[0];
  assert.deepEqual([idx.type, idx.dims], ['int64', [1, 32]]);
  const ids = new BigInt64Array(idx.data.slice().buffer);
  assert.ok(ids.every((id) => id >= 0n && id < 63n));
});

test('one seed, one set of samples', () => {
  const hash = (seed) => sha256(octet.make_samples({ model: modelBytes('digits_cnn'), seed }).samples[0].image.data);
  assert.equal(hash(5), hash(5));
  assert.notEqual(hash(5), hash(6));
});

test('made-up inputs have the sizes and values that are asked for, by name', () => {
  const model = modelBytes('gpt_char');
  const made = octet.make_samples({ model, dims: { 'idx:1': 7 }, fixed: { idx: '5' }, count: 1 });
  assert.equal(made.description, '1 synthetic sample, seed 1: idx int64 [1,7], as given');
  const [{ idx }] = made.samples;
  assert.deepEqual([...new BigInt64Array(idx.data.slice().buffer)], Array(7).fill(5n));
  assert.deepEqual(made.sizes_to_try, [], 'no size is open');
  const refused = (request) => errorOf({ model, ...request }, octet.make_samples);
  for (const [request, where] of [
    [{ dims: { width: 3 } }, "dimension 'width'"], [{ dims: { 'idx:1': 1.5 } }, "dimension 'idx:1'"],
    [{ fixed: { mask: '1' } }, "fixed 'mask'"], [{ fixed: { idx: 'many' } }, '--fix idx=many'], [{ dims: 3 }, 'dims'],
  ]) {
    const error = refused(request);
    assert.equal(error.code, 'usage', where);
    assert.equal(error.where, where);
  }
});

test('equal outputs drift by nothing', () => {
  const { drift, worst_sqnr_db, latency } = judge(floats(1, 2, 3), floats(1, 2, 3));
  assert.equal(worst_sqnr_db, 200);
  assert.equal(drift[0].max_abs_error, 0);
  assert.equal(drift[0].top1_agreement, 1);
  assert.equal(latency, undefined);
});

test('drift follows its formula', () => {
  const { drift } = judge(floats(3, 4), floats(3, 4.5));
  assert.ok(Math.abs(drift[0].sqnr_db - 10 * Math.log10(25 / 0.25)) < 1e-9);
  assert.equal(drift[0].max_abs_error, 0.5);
});

test('the verdict goes by the thresholds that are given', () => {
  const reference_ms = [10, 10, 10, 10, 10, 10], candidate_ms = reference_ms.map((ms) => ms * 0.98);
  const verdict = (limits) => judge(floats(1, 2), floats(1, 2.001), { reference_ms, candidate_ms, ...limits }).verdict;
  assert.match(verdict({}).sentence, /^Ship it: .* as fast as before here/);
  assert.match(verdict({ min_smaller: 5 }).sentence, /^Don't bother: 4× smaller/);
  assert.match(verdict({ min_smaller: 5, faster: 1.01 }).sentence, /^Ship it: .*× faster here/);
  assert.equal(verdict({ min_sqnr: 80 }).judgement, 'dont');
  const slow = reference_ms.map((ms) => ms / 0.9);
  const other = judge(floats(1, 2), floats(1, 2.001), { reference_ms, candidate_ms: slow, slower: 0.8 });
  assert.equal(other.verdict.judgement, 'ship', 'a tenth slower is no loss to who says so');
});

test('thresholds that no verdict can go by are refused by name', () => {
  const refused = (limits) => judge(floats(1), floats(1), limits).error;
  for (const [key, value] of [['min_smaller', 0], ['slower', 1.1], ['faster', 0.9], ['min_sqnr', 'ten'], ['faster', NaN]]) {
    const error = refused({ [key]: value });
    assert.equal(error?.code, 'usage', key);
    assert.equal(error.where, key);
  }
});

test('latency pairs the runs, and the verdict says faster or slower', () => {
  const reference_ms = [10, 10, 10, 10, 10, 10], candidate_ms = reference_ms.map((ms) => ms / 2);
  const faster = judge(floats(1, 2), floats(1, 2.001), { reference_ms, candidate_ms });
  assert.equal(faster.latency.speedup.ratio, 2);
  assert.equal(faster.latency.candidate.median_ms, 5);
  assert.equal(faster.verdict.judgement, 'ship', faster.verdict.sentence);
  const slower = judge(floats(1, 2), floats(1, 2.001), { reference_ms: candidate_ms, candidate_ms: reference_ms });
  assert.equal(slower.latency.speedup.ratio, 0.5);
  assert.notEqual(slower.verdict.judgement, 'ship', slower.verdict.sentence);
});

test('an output that turned to NaN is told', () => {
  const { drift, worst_sqnr_db } = judge(floats(1, 2), floats(1, NaN));
  assert.equal(drift[0].finite, false);
  assert.equal(worst_sqnr_db, -200);
});

test('bytes that do not fit their type are one typed error', () => {
  const broken = { type: 'float32', dims: [3], data: new Uint8Array(5) };
  const result = judge(broken, floats(1));
  assert.equal(result.error.code, 'data');
  assert.equal(judge({ ...broken, type: 'magic' }, floats(1)).error.code, 'data');
  assert.equal(errorOf({ model: new Uint8Array(9) }, octet.make_samples).code, 'malformed');
});
