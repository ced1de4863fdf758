// Repeated calls, good and bad, give back all they took.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rangesOf } from './calibrated.mjs';
import { errorOf, modelBytes, octet, quantize } from './octet_runs.mjs';
import { png } from './sample_bytes.mjs';

const CALLS = 20;

function growth(call) {
  call();  // what is set up once
  call();
  const before = octet.allocated_bytes(), handles = octet.count_emval_handles();
  for (let i = 0; i < CALLS; ++i) call();
  assert.equal(octet.count_emval_handles(), handles, 'JavaScript values still held');
  return octet.allocated_bytes() - before;
}

for (const mode of ['dynamic', 'weights']) {
  test(`${CALLS} quantizations in ${mode} mode leave nothing behind`, () => {
    assert.equal(growth(() => quantize('gpt_char', { mode })), 0);
  });
}

test(`${CALLS} static quantizations leave nothing behind`, async () => {
  const ranges = await rangesOf('gpt_char');
  assert.equal(growth(() => quantize('gpt_char', {}, { ranges })), 0);
  assert.equal(growth(() => octet.merge_ranges([ranges, ranges])), 0);
});

test('deleted calibrations leave nothing behind', () => {
  const { samples: [sample] } = octet.make_samples({ model: modelBytes('digits_cnn') });
  const data = Float32Array.from({ length: 1000 }, (_, i) => Math.exp(i / 20));
  const tensor = { type: 'float32', dims: [1000], data };
  assert.equal(growth(() => {
    const { calibration, taps } = octet.start_calibration({ model: modelBytes('digits_cnn') });
    calibration.begin_sample({ sample });
    const { segments } = calibration.plan_segments({ budget: 1e4 });
    segments.forEach((_, i) => calibration.segment_model(i));
    for (const tap of taps) calibration.observe(tap, tensor);
    calibration.end_sample();
    calibration.learned();
    calibration.delete();
  }), 0);
});

test('samples from files leave nothing behind', () => {
  const files = ['a.png', 'b.png'], picture = png(20, 10, (row, column) => [row, column, 9]);
  assert.equal(growth(() => {
    const { samples } = octet.open_samples({ model: modelBytes('digits_cnn'), files, options: { limit: 1 } });
    samples.describe();
    samples.files(0);
    assert.ok(samples.read(0, [picture]).sample);
    errorOf([], (contents) => samples.read(0, contents));
    samples.delete();
  }), 0);
  assert.equal(growth(() => errorOf({ model: modelBytes('digits_cnn'), files: [] }, octet.open_samples)), 0);
});

test('inspections leave nothing behind', () => {
  const model = modelBytes('gpt_char');
  assert.equal(growth(() => octet.inspect_model({ model })), 0);
});

test('failures leave nothing behind', () => {
  const cut = modelBytes('gpt_char').subarray(0, 400_000);
  assert.equal(growth(() => errorOf({ model: cut })), 0);
  assert.equal(growth(() => errorOf({ model: modelBytes('gpt_char'), options: { nodes_to_exclude: ['nowhere'] } })), 0);
  const progress = () => { throw new Error('stop'); };
  const stopped = () => assert.throws(() => octet.quantize_model({ model: modelBytes('gpt_char'), progress }), /stop/);
  assert.equal(growth(stopped), 0);
});
