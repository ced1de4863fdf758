// wasm/octet.d.ts says what the module is: compared with the module itself, in both directions.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { rangesOf, learn } from './calibrated.mjs';
import { compareLayers } from './layer_runs.mjs';
import { ROOT } from './load_octet.mjs';
import { errorOf, modelBytes, MODELS, octet, quantize } from './octet_runs.mjs';
import { PACKAGE } from './package.mjs';
import { samplesOf } from './read_npz.mjs';
import { png } from './sample_bytes.mjs';
import { NODE_MODULES } from './web_runtime.mjs';

const there = existsSync(join(ROOT, 'wasm/node_modules/typescript'));
const skip = there ? false : 'TypeScript is not installed (scripts/setup wasm installs it)';
const { Declarations } = there ? await import('./declarations.mjs') : {};
const DOM = ['lib.es2022.d.ts', 'lib.dom.d.ts'];
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

const STATIC = [{}, { format: 'qoperator', method: 'best' }, { method: 'percentile', activation_type: 'qint8' }];

for (const name of MODELS) {
  for (const options of STATIC) {
    test(`${name} static ${JSON.stringify(options)}: result and report are what they say`, { skip }, async () => {
      const ranges = await rangesOf(name);
      assert.deepEqual(declarations.compare('Quantized', quantize(name, options, { ranges })), []);
      const inspected = octet.inspect_model({ model: modelBytes(name), options: { ...options, mode: 'static' } });
      assert.deepEqual(declarations.compare('Inspected', inspected), []);
    });
  }
}

// The methods of a handle, with their number of arguments.
function sameMethods(type, handle) {
  const methods = Object.getPrototypeOf(handle);
  const bound = Object.keys(methods).filter((key) => key !== 'constructor');
  assert.deepEqual(declarations.keys(type).sort(), [...bound, 'delete'].sort());
  for (const name of bound) assert.equal(declarations.arity(type, name), methods[name].argCount, name);
}

test('calibration is what they say, step by step', { skip }, () => {
  const started = octet.start_calibration({ model: modelBytes('digits_cnn') });
  const { calibration } = started;
  try {
    assert.deepEqual(Object.keys(started).sort(), declarations.keys('StartedCalibration').sort());
    sameMethods('Calibration', calibration);
    const [sample] = samplesOf('digits_cnn', 'calib');
    assert.deepEqual(declarations.compare('Sample', calibration.begin_sample({ sample }).sample), []);
    const { segments } = calibration.plan_segments({ budget: 1e5 });
    for (const [i, segment] of segments.entries()) {
      assert.deepEqual(declarations.compare('Segment', segment), []);
      assert.deepEqual(declarations.compare('Written', calibration.segment_model(i)), []);
    }
    assert.deepEqual(Object.keys(calibration.observe('image', sample.image)), ['observed']);
    assert.deepEqual(calibration.end_sample(), { samples: 1 });
    const learned = calibration.learned();
    assert.deepEqual(declarations.compare('Learned', learned), []);
    assert.deepEqual(declarations.compare('MergedRanges', octet.merge_ranges([learned.ranges])), []);
  } finally {
    calibration.delete();
  }
});

test('comparing layers is what they say, step by step', { skip }, async () => {
  const { model } = quantize('digits_cnn', {}, { ranges: await rangesOf('digits_cnn') });
  const [sample] = samplesOf('digits_cnn', 'eval');
  const reference = { model: modelBytes('digits_cnn') };
  const started = octet.start_layers({ reference, candidate: { model } });
  const { layers } = started;
  try {
    assert.deepEqual(Object.keys(started), declarations.keys('StartedLayers'));
    sameMethods('LayerSteps', layers);
    assert.deepEqual(declarations.compare('Sample', layers.begin_sample({ sample }).sample), []);
    const { slices } = layers.plan_slices({ budget: 1e5 });
    for (const [slice, names] of slices.entries()) {
      assert.deepEqual(declarations.compare('LayerSlice', names), []);
      for (const which of ['reference', 'candidate'])
        assert.deepEqual(declarations.compare('Written', layers.slice_model({ slice, which })), []);
    }
    assert.deepEqual(layers.add({ slice: 0, reference: {}, candidate: {} }), { samples: 1 });
    assert.deepEqual(declarations.compare('LayerComparison', layers.result({}).layers), []);
  } finally {
    layers.delete();
  }
  const compared = await compareLayers(reference, { model }, [sample]);
  assert.ok(compared.values.length > 0 && compared.weights.length > 0);
  assert.deepEqual(declarations.compare('LayerComparison', compared), []);
});

test('a search is what they say, step by step', { skip }, async () => {
  const started = octet.start_search({ model: modelBytes('digits_cnn'), options: { bias_correction: true } });
  const { search } = started;
  try {
    assert.deepEqual(Object.keys(started), declarations.keys('StartedSearch'));
    sameMethods('Search', search);
    const question = search.next();
    assert.deepEqual(Object.keys(question).sort(), ['ask', 'calibration', 'done', 'stage', 'taps', 'total']);
    sameMethods('Calibration', question.calibration);
    question.calibration.delete();
  } finally {
    search.delete();
  }
  const checked = octet.start_search({ model: modelBytes('digits_cnn'), options: { min_sqnr: 10 } }).search;
  try {
    assert.deepEqual(declarations.compare('SearchQuestion', checked.next()), []);
    assert.deepEqual(declarations.compare('WrittenInMemory', checked.check_model()), []);
    assert.deepEqual(checked.add_outputs({ reference: {}, candidate: {} }), { samples: 1 });
    assert.deepEqual(checked.answer({}), {});
    assert.deepEqual(declarations.compare('SearchQuestion', checked.next()), []);
    assert.deepEqual(declarations.compare('Finished', checked.finish({})), []);
  } finally {
    checked.delete();
  }
});

test('the automatic search is what they say, step by step', { skip }, async () => {
  const request = { model: modelBytes('digits_cnn'), budget: { min_sqnr: 20, seconds: 10 }, context: 'here' };
  assert.deepEqual(declarations.compare('AutoRequest', request), []);
  const started = octet.start_auto({ ...request, ranges: await rangesOf('digits_cnn') });
  const { search } = started;
  try {
    assert.deepEqual(Object.keys(started), declarations.keys('StartedAuto'));
    sameMethods('AutoSearch', search);
    const question = search.next(), times = { reference_ms: [1, 1, 1], candidate_ms: [1, 1, 1] };
    assert.deepEqual(declarations.compare('AutoQuestion', question), []);
    assert.deepEqual(declarations.compare('AutoAnswer', times), []);
    assert.deepEqual(declarations.compare('WrittenInMemory', search.candidate_model()), []);
    assert.deepEqual(search.add_outputs({ reference: {}, candidate: {} }), { samples: 1 });
    assert.deepEqual(search.answer(times), {});
    search.next();
    assert.deepEqual(declarations.compare('AutoState', search.state()), []);
    assert.equal(search.state().candidates.length, 1);
    assert.deepEqual(Object.keys(search.plan(0)), ['plan']);
    assert.deepEqual(declarations.compare('Plan', search.plan(0).plan), []);
    assert.deepEqual(Object.keys(search.log()), ['log']);
    assert.deepEqual(search.stop(), {});
    assert.deepEqual(declarations.compare('AutoQuestion', search.next()), []);
    assert.deepEqual(declarations.compare('AutoState', search.state()), []);
  } finally {
    search.delete();
  }
});

test('the helper has declarations that hold, and onnxruntime-web fits them', { skip }, async () => {
  const helper = new Declarations(join(PACKAGE, 'lib/calibrate.d.ts'), DOM);
  assert.deepEqual(helper.problems, []);
  assert.deepEqual(helper.compare('Calibrated', await learn('digits_cnn')), []);
  const folder = mkdtempSync(join(tmpdir(), 'octet-declarations-'));
  try {
    const path = join(folder, 'use.ts');
    const use = `
      import * as ort from ${JSON.stringify(join(NODE_MODULES, 'onnxruntime-common'))};
      import { calibrate } from ${JSON.stringify(join(PACKAGE, 'lib/calibrate.js'))};
      import type { OctetModule } from ${JSON.stringify(join(PACKAGE, 'octet.js'))};
      export async function use(octet: OctetModule, tensors: ort.Tensor[], signal: SIGNAL) {
        const { ranges } = await calibrate(octet, ort, new Uint8Array(1), tensors.map((x) => ({ x })), {}, { signal });
        return octet.quantize_model({ model: new Uint8Array(1), ranges });
      }`;
    writeFileSync(path, use.replace('SIGNAL', 'AbortSignal'));
    assert.deepEqual(new Declarations(path, DOM).problems, []);
    writeFileSync(path, use.replace('SIGNAL', 'string'));
    assert.equal(new Declarations(path, DOM).problems.length, 1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

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

test('samples from files are what they say', { skip }, () => {
  const image = { image_size: '8x8', image_layout: 'nchw', image_mean: [0.5], image_std: '2', image_scale: 1,
    image_order: 'bgr', image_fit: 'pad' };
  const options = { limit: 1, shuffle: 1, image };
  assert.deepEqual(declarations.compare('SampleOptions', options), []);
  assert.deepEqual(declarations.keys('ImageOptions').sort(), Object.keys(image).sort());
  const started = octet.open_samples({ model: modelBytes('digits_cnn'), files: ['a.png', 'b.png'], options });
  assert.deepEqual(Object.keys(started), declarations.keys('OpenedSamples'), started.error?.message);
  const { samples } = started;
  try {
    sameMethods('SampleFiles', samples);
    assert.deepEqual(declarations.compare('SamplesDescription', samples.describe()), []);
    assert.deepEqual(declarations.compare('SamplePlace', samples.files(0)), []);
    assert.deepEqual(declarations.compare('ReadSample', samples.read(0, [png(9, 9, () => 1)])), []);
  } finally {
    samples.delete();
  }
});

test('histograms are what they say', { skip }, async () => {
  const model = modelBytes('digits_cnn'), { plan } = quantize('digits_cnn', { mode: 'weights' }).report;
  const tensors = plan.tensors.map(({ tensor, axis }) => ({ tensor, axis }));
  const request = { model, options: { mode: 'weights' }, tensors, bins: 20 };
  assert.deepEqual(declarations.compare('WeightHistogramsRequest', request), []);
  const weights = octet.weight_histograms(request);
  assert.deepEqual(declarations.compare('Histograms', weights), []);
  assert.equal(weights.histograms.length, tensors.length);
  const seen = octet.activation_histograms({ ranges: await rangesOf('digits_cnn') });
  assert.deepEqual(declarations.compare('Histograms', seen), []);
  for (const { counts, values } of [...weights.histograms, ...seen.histograms]) {
    assert.equal(counts.reduce((sum, count) => sum + count), values);
  }
  assert.match(errorOf({ ...request, tensors: [{ tensor: 'nowhere' }] }, octet.weight_histograms).message, /nowhere/);
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
  for (const format of declarations.literals('Format')) take({ mode: 'static', format });
  for (const method of declarations.literals('Method')) take({ mode: 'static', method });
  for (const activation_type of declarations.literals('ActivationType')) take({ mode: 'static', activation_type });
  for (const weight_type of declarations.literals('WeightType')) take({ mode: 'weights', weight_type });
});

test('a wrong value is noticed', { skip }, () => {
  const { report } = quantize('digits_cnn');
  assert.equal(declarations.compare('Report', { ...report, more: 1 }).length, 1);
  assert.equal(declarations.compare('Report', { ...report, passes: undefined }).length > 0, true);
  assert.equal(declarations.compare('Sizes', { ...report.sizes, input_bytes: '3' }).length, 1);
  assert.equal(declarations.compare('PlannedNode', { ...report.plan.nodes[0], action: 'magic' }).length, 1);
});
