// The module's calls: what they give, what they read, and how they fail.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorOf, modelBytes, MODELS, octet, quantize, sha256 } from './octet_runs.mjs';

test('tells its version', () => {
  assert.match(octet.version(), /^\d+\.\d+\.\d+$/);
});

for (const name of MODELS) {
  test(`${name}: weights shrink to about a quarter, and the report adds up`, () => {
    const { model, report } = quantize(name, { mode: 'weights' });
    const { sizes } = report;
    assert.equal(sizes.input_bytes, modelBytes(name).length);
    assert.equal(sizes.output_bytes, model.length);
    assert.ok(sizes.weights_in_8_bits_bytes >= 0.95 * sizes.float_weight_bytes);
    const left = sizes.left_float.reduce((sum, { bytes }) => sum + bytes, 0);
    assert.equal(left + sizes.weights_in_8_bits_bytes, sizes.float_weight_bytes);
    // Made float again when a session starts.
    const again = sizes.loaded_bytes - sizes.output_bytes;
    assert.ok(again > 0.8 * sizes.float_weight_bytes && again <= sizes.float_weight_bytes, `${again}`);
    const blocks = quantize(name, { mode: 'weights', weight_type: 'qint4' }).report.sizes;
    assert.ok(blocks.loaded_bytes < sizes.loaded_bytes, 'blocks stay small');
    assert.ok(model.length < 0.45 * sizes.input_bytes, `${model.length} of ${sizes.input_bytes}`);
  });

  test(`${name}: inspect foresees quantize, to the byte`, () => {
    const options = { mode: 'dynamic', target: 'any' };
    const { report } = octet.inspect_model({ name: `${name}.onnx`, model: modelBytes(name), options });
    assert.deepEqual(report, quantize(name, options).report);
  });
}

test('its own output loads again and is recognized as quantized', () => {
  const { model } = quantize('gpt_char', { mode: 'dynamic' });
  assert.equal(octet.inspect_model({ model }).report.model.quantized_already, true);
});

test('a plan taken from a report gives the same bytes again', () => {
  const first = quantize('gpt_char', { mode: 'dynamic', nodes_to_exclude: ['op:Gather'] });
  const again = quantize('gpt_char', { plan: first.report.plan });
  assert.equal(sha256(again.model), sha256(first.model));
});

test('a reader gives the same as the bytes, and is never asked past its end', () => {
  const bytes = modelBytes('gpt_char');
  const model = {
    size: bytes.length,
    read(offset, length) {
      assert.ok(offset >= 0 && length > 0 && offset + length <= bytes.length);
      return bytes.slice(offset, offset + length);
    },
  };
  assert.equal(sha256(quantize('gpt_char', {}, { model }).model), sha256(quantize('gpt_char').model));
});

test('a view into a larger buffer is read as the view alone', () => {
  const bytes = modelBytes('digits_cnn');
  const larger = new Uint8Array(bytes.length + 20).fill(255);
  larger.set(bytes, 7);
  const model = larger.subarray(7, 7 + bytes.length);
  assert.equal(sha256(quantize('digits_cnn', {}, { model }).model), sha256(quantize('digits_cnn').model));
});

test('the input stays as it was, and results survive later calls', () => {
  const model = modelBytes('digits_cnn');
  const first = quantize('digits_cnn', { mode: 'weights' }, { model });
  const hash = sha256(first.model);
  quantize('gpt_char');
  assert.equal(sha256(first.model), hash);
  assert.equal(sha256(model), sha256(modelBytes('digits_cnn')));
  assert.equal(first.model.buffer.byteLength, first.model.length, 'the result owns its buffer');
});

test('external data goes out and comes in again', () => {
  const whole = quantize('gpt_char', { mode: 'weights' });
  const split = quantize('gpt_char', { mode: 'weights', external_data: true }, { output: 'small.onnx' });
  assert.equal(split.external_name, 'small.onnx.data');
  assert.equal(split.report.sizes.output_bytes, split.model.length + split.external.length);
  assert.ok(split.model.length < whole.model.length / 2);

  const asked = [];
  const open = (location) => {
    asked.push(location);
    return location === split.external_name ? split.external : null;
  };
  const { report } = octet.inspect_model({ model: split.model, open });
  assert.deepEqual(new Set(asked), new Set(['small.onnx.data']));
  assert.equal(report.model.file_bytes, split.model.length + split.external.length);

  const error = errorOf({ name: 'small.onnx', model: split.model, open: () => null });
  assert.equal(error.code, 'read');
  assert.match(error.message, /'small\.onnx\.data'/);
  assert.deepEqual(errorOf({ name: 'small.onnx', model: split.model }), error);
});

test('progress runs from plan to write and ends at the whole', () => {
  const told = [];
  quantize('gpt_char', {}, { progress: (stage, done, total) => told.push({ stage, done, total }) });
  const stages = told.map(({ stage }) => stage);
  assert.deepEqual([...new Set(stages)], ['plan', 'write']);
  for (const { done, total } of told) assert.ok(done <= total);
  const planned = told.filter(({ stage }) => stage === 'plan').at(-1);
  assert.equal(planned.done, planned.total);
});

const fails = [
  ['no model at all', { model: new Uint8Array(0) }, 'malformed', 4],
  ['random bytes', { model: Uint8Array.from({ length: 500 }, (_, i) => (i * 197 + 31) % 256) }, 'malformed', 4],
  ['a truncated model', { model: modelBytes('gpt_char').subarray(0, 5000) }, 'malformed', 4],
  ['a string for a model', { model: 'gpt_char.onnx' }, 'usage', 2],
  ['nothing for a model', { model: undefined }, 'usage', 2],
  ['null for a model', { model: null }, 'usage', 2],
  ['floats for a model', { model: new Float32Array(8) }, 'usage', 2],
  ['an unknown option', { options: { mod: 'weights' } }, 'usage', 2],
  ['an unknown mode', { options: { mode: 'magic' } }, 'usage', 2],
  ['a mode of the wrong type', { options: { mode: 3 } }, 'usage', 2],
  ['a list for options', { options: [] }, 'usage', 2],
  ['a flag that is none', { options: { per_channel: 'yes' } }, 'usage', 2],
  ['names that are none', { options: { op_types: [1] } }, 'usage', 2],
  ['a block size beyond measure', { options: { block_size: 1e12 } }, 'usage', 2],
  ['options at odds', { options: { mode: 'dynamic', weight_type: 'qint4' } }, 'usage', 2],
  ['a node that is not there', { options: { nodes_to_exclude: ['nowhere'] } }, 'usage', 2],
  ['smoothing, which is the command line\'s', { options: { mode: 'static', smooth_quant: 0.5 } }, 'usage', 2],
  ['a plan that is none', { options: { plan: {} } }, 'malformed', 4],
  ['a reader that fails', { model: { size: 100, read: () => null } }, 'read', 3],
  ['a reader that gives too little', { model: { size: 100, read: () => new Uint8Array(1) } }, 'read', 3],
];

for (const [what, request, code, status] of fails) {
  test(`${what}: one typed error, "${code}"`, () => {
    const error = errorOf({ name: 'm.onnx', model: modelBytes('digits_cnn'), ...request });
    assert.equal(error.code, code, error.message);
    assert.equal(error.exit_status, status);
    assert.ok(error.problem.length > 0);
    assert.doesNotMatch(error.message, /\n/);
    assert.ok(error.message.includes(error.problem));
  });
}

test('what a callback throws arrives as it was thrown', () => {
  const stop = new Error('stop');
  const throws = () => { throw stop; };
  const model = modelBytes('gpt_char');
  const same = (thrown) => thrown === stop;
  assert.throws(() => octet.quantize_model({ model, progress: throws }), same);
  assert.throws(() => octet.quantize_model({ model: { size: 1e6, read: throws } }), same);
});

test('works on after failures', () => {
  const before = sha256(quantize('digits_cnn').model);
  errorOf({ model: modelBytes('gpt_char').subarray(0, 300_000) });
  assert.throws(() => octet.quantize_model({ model: { size: 1e9, read: () => { throw new Error('gone'); } } }), /gone/);
  assert.equal(sha256(quantize('digits_cnn').model), before);
});
