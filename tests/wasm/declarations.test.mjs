// wasm/octet.d.ts says what the module is: compared with the module itself, in both directions.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './load_octet.mjs';
import { errorOf, modelBytes, MODELS, octet, quantize } from './octet_runs.mjs';

const there = existsSync(join(ROOT, 'wasm/node_modules/typescript'));
const skip = there ? false : 'TypeScript is not installed (scripts/setup wasm installs it)';
const { Declarations } = there ? await import('./declarations.mjs') : {};
const declarations = there ? new Declarations(join(ROOT, 'wasm/octet.d.ts')) : null;

// What Emscripten puts on every module besides the functions that were bound.
const EMSCRIPTEN = new Set(['run', 'inspect', 'ready', 'count_emval_handles', 'get_first_emval']);
const isBound = (key) => typeof octet[key] === 'function' && /^[a-z][a-z_]*$/.test(key) && !EMSCRIPTEN.has(key);

test('they compile without a complaint', { skip }, () => {
  assert.deepEqual(declarations.problems, []);
});

test('they list the functions of the module, with their number of arguments', { skip }, () => {
  assert.deepEqual(declarations.keys('OctetModule').sort(), Object.keys(octet).filter(isBound).sort());
  for (const name of declarations.keys('OctetModule')) {
    assert.equal(declarations.arity('OctetModule', name), octet[name].argCount, name);
  }
});

const VARIANTS = [
  { mode: 'dynamic' },
  { mode: 'dynamic', reduce_range: true, op_types: ['Gemm', 'MatMul'] },
  { mode: 'weights' },
  { mode: 'weights', weight_type: 'qint4', target: 'x64' },
  { mode: 'weights', external_data: true },
];

for (const name of MODELS) {
  for (const options of VARIANTS) {
    test(`${name} ${JSON.stringify(options)}: result and report are what they say`, { skip }, () => {
      assert.deepEqual(declarations.compare('Quantized', quantize(name, options)), []);
      const inspected = octet.inspect_model({ model: modelBytes(name), options });
      assert.deepEqual(declarations.compare('Inspected', inspected), []);
    });
  }
}

test('a preparation is what they say', { skip }, () => {
  const request = { model: modelBytes('gpt_char'), options: { dims: { batch: 1 }, opset: 18 } };
  assert.deepEqual(declarations.compare('PrepareOptions', request.options), []);
  assert.deepEqual(declarations.compare('Prepared', octet.prepare_model(request)), []);
});

test('the module takes every option of prepare they list, and no other', { skip }, () => {
  const error = errorOf({ model: modelBytes('digits_cnn'), options: { unheard_of: 1 } }, octet.prepare_model);
  const known = error.next.replace('there are ', '').split(', ');
  assert.deepEqual(declarations.keys('PrepareOptions').sort(), known.sort());
});

test('samples and judgements are what they say', { skip }, () => {
  const made = octet.make_samples({ model: modelBytes('gpt_char') });
  assert.deepEqual(declarations.compare('Samples', made), []);
  const [first, second] = made.samples;
  const request = {
    runs: [{ reference: first, candidate: second }], reference_ms: [2, 2, 2], candidate_ms: [1, 1, 1],
    input_bytes: 4, output_bytes: 1, synthetic: true,
  };
  assert.deepEqual(declarations.compare('Runs', request), []);
  assert.deepEqual(declarations.compare('Judged', octet.judge_runs(request)), []);
});

test('a failure is what they say', { skip }, () => {
  assert.deepEqual(declarations.compare('Failure', { error: errorOf({ model: new Uint8Array(3) }) }), []);
});

test('the module takes every option they list, and no other', { skip }, () => {
  const error = errorOf({ model: modelBytes('digits_cnn'), options: { unheard_of: 1 } });
  const known = error.next.replace('there are ', '').split(', ');
  assert.deepEqual(declarations.keys('Options').sort(), known.sort());
});

test('the module takes every value they list for a choice', { skip }, () => {
  const model = modelBytes('digits_cnn');
  const take = (options) => assert.equal(octet.inspect_model({ model, options }).error?.message, undefined);
  for (const mode of declarations.literals('Mode')) take({ mode });
  for (const target of declarations.literals('Target')) take({ target });
  for (const weight_type of declarations.literals('WeightType')) take({ mode: 'weights', weight_type });
});

test('a wrong value is noticed', { skip }, () => {
  const { report } = quantize('digits_cnn');
  assert.equal(declarations.compare('Report', { ...report, more: 1 }).length, 1);
  assert.equal(declarations.compare('Report', { ...report, passes: undefined }).length > 0, true);
  assert.equal(declarations.compare('Sizes', { ...report.sizes, input_bytes: '3' }).length, 1);
  assert.equal(declarations.compare('PlannedNode', { ...report.plan.nodes[0], action: 'magic' }).length, 1);
});
