// Calibration in a runtime beside the module, and what static quantization makes of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calibrate } from './package.mjs';
import { learn, rangesOf } from './calibrated.mjs';
import { modelBytes, MODELS, octet, quantize, sha256 } from './octet_runs.mjs';
import { samplesOf } from './read_npz.mjs';
import { ort, outputsOf, toTensor } from './web_runtime.mjs';

const LEAST_DB = 20;
const VARIANTS = [{}, { format: 'qoperator' }, { method: 'best' }, { per_channel: false, method: 'percentile' }];

async function worstSqnr(name, model) {
  const samples = samplesOf(name, 'eval');
  const references = await outputsOf(modelBytes(name), samples), candidates = await outputsOf(model, samples);
  const runs = references.map((reference, i) => ({ reference, candidate: candidates[i] }));
  const sizes = { input_bytes: modelBytes(name).length, output_bytes: model.length };
  return octet.judge_runs({ runs, reference_ms: [], candidate_ms: [], synthetic: false, ...sizes }).worst_sqnr_db;
}

for (const name of MODELS) {
  for (const options of VARIANTS) {
    test(`${name} ${JSON.stringify(options)}: runs near the float model`, async () => {
      const { model, report } = quantize(name, options, { ranges: await rangesOf(name) });
      assert.ok(report.plan.nodes.some(({ action }) => action === 'static'));
      assert.equal(report.plan.format, options.format ?? 'qdq');
      const db = await worstSqnr(name, model);
      assert.ok(db >= LEAST_DB, `${db} dB`);
    });
  }
}

test('segments show what the whole model shows', async () => {
  for (const name of MODELS) {
    const whole = await learn(name, {}, { memoryBudget: 1e12 });
    const cut = await learn(name, {}, { memoryBudget: 1e5 });
    assert.equal(whole.segments, 1);
    assert.ok(cut.segments > 4, `${cut.segments}`);
    assert.equal(cut.ranges, whole.ranges);
  }
});

test('samples that outgrow the first are cut finer', async () => {
  const samples = samplesOf('digits_cnn', 'calib');
  const [{ image }] = samples;
  const small = { type: image.type, dims: [1, 1, 8, 8], data: image.data.slice(0, 256) };
  const hooks = { memoryBudget: 50_000 };
  assert.equal((await learn('digits_cnn', {}, hooks, [{ image: small }])).segments, 1);
  const grown = await learn('digits_cnn', {}, hooks, [{ image: small }, ...samples]);
  assert.ok(grown.segments > 1);
  assert.equal(grown.ranges, (await learn('digits_cnn', {}, {}, [{ image: small }, ...samples])).ranges);
});

test('where segments do not load the whole model runs, and nothing counts twice', async () => {
  const created = [];
  const moody = {
    Tensor: ort.Tensor,
    InferenceSession: {
      create(model, options) {
        created.push(model.length);
        assert.equal(options.graphOptimizationLevel, 'disabled');
        if (created.length === 3) throw new Error('a segment too many\nin /somewhere/else.cc:12');
        return ort.InferenceSession.create(model, options);
      },
    },
  };
  const samples = samplesOf('digits_cnn', 'calib');
  const run = () => calibrate(octet, moody, modelBytes('digits_cnn'), samples, {}, { memoryBudget: 1e5 });
  const result = await run();
  assert.equal(created.length, 4);
  assert.equal(result.segments, 1);
  assert.equal(result.ranges, await rangesOf('digits_cnn'));

  moody.InferenceSession.create = () => { throw new Error('no'); };
  await assert.rejects(run, { name: 'OctetError', message: 'model: does not load: no' });
});

test('samples come as the runtime\'s tensors, from a generator, in other types, under any one name', async () => {
  const samples = samplesOf('digits_cnn', 'calib');
  async function* tensors() {
    for (const { image } of samples) yield { image: toTensor(image) };
  }
  const doubles = samples.map(({ image: { dims, data } }) => {
    return { picture: { type: 'float64', dims, data: Float64Array.from(new Float32Array(data.slice().buffer)) } };
  });
  for (const given of [tensors(), new Set(doubles)]) {
    assert.equal((await learn('digits_cnn', {}, {}, given)).ranges, await rangesOf('digits_cnn'));
  }
});

test('parts merge to what one run over all gives, to the byte', async () => {
  const samples = samplesOf('gpt_char', 'calib');
  const parts = [samples.slice(0, 3), samples.slice(3)];
  const [first, second] = [await learn('gpt_char', {}, {}, parts[0]), await learn('gpt_char', {}, {}, parts[1])];
  for (const list of [[first.ranges, second.ranges], [JSON.parse(second.ranges), JSON.parse(first.ranges)]]) {
    const merged = octet.merge_ranges(list);
    assert.equal(merged.samples, samples.length);
    assert.equal(merged.ranges, await rangesOf('gpt_char'));
  }
});

test('ranges are text or parsed, alone or in the plan', async () => {
  const ranges = await rangesOf('digits_cnn');
  const first = quantize('digits_cnn', { mode: 'static' }, { ranges });
  const same = ({ model }) => assert.equal(sha256(model), sha256(first.model));
  same(quantize('digits_cnn', {}, { ranges: JSON.parse(ranges) }));
  same(quantize('digits_cnn', { plan: first.report.plan }));
  const { report } = octet.inspect_model({ model: modelBytes('digits_cnn'), name: 'digits_cnn.onnx', ranges });
  assert.deepEqual(report, first.report);
});

test('a static plan can be looked at before calibration', async () => {
  for (const name of MODELS) {
    const { report, error } = octet.inspect_model({ model: modelBytes(name), options: { mode: 'static' } });
    assert.equal(error, undefined);
    assert.ok(report.plan.activations.every(({ low }) => low === undefined));
    const { model } = quantize(name, {}, { ranges: await rangesOf(name) });
    assert.ok(Math.abs(report.sizes.output_bytes / model.length - 1) < 0.02, `${report.sizes.output_bytes}`);
    const filled = quantize(name, { plan: report.plan }, { ranges: await rangesOf(name) });
    assert.equal(sha256(filled.model), sha256(model));
  }
});

test('taps of a plan alone are fewer, and enough for it', async () => {
  const options = { op_types: ['Gemm'] };
  const few = await learn('digits_cnn', options, { taps: 'plan' });
  const all = JSON.parse(await rangesOf('digits_cnn')).tensors.map(({ tensor }) => tensor);
  assert.ok(few.taps.length < all.length && few.taps.every((tap) => all.includes(tap)));
  const model = (ranges) => sha256(quantize('digits_cnn', options, { ranges }).model);
  assert.equal(model(few.ranges), model(await rangesOf('digits_cnn')));
});

test('external data is found for calibration too', async () => {
  const parts = quantize('digits_cnn', { mode: 'weights', external_data: true });
  const source = { name: 'm.onnx', model: parts.model, open: () => parts.external };
  const { samples } = await calibrate(octet, ort, source, samplesOf('digits_cnn', 'calib'));
  assert.equal(samples, 8);
});

test('progress counts samples to the end', async () => {
  const told = [];
  await learn('digits_cnn', {}, { memoryBudget: 1e5, onProgress: (progress) => told.push(progress) });
  assert.ok(told.every(({ stage, total }) => stage === 'calibrate' && total === 8));
  assert.deepEqual(told.map(({ done }) => done), told.map(({ done }) => done).sort((a, b) => a - b));
  assert.equal(told.at(-1).done, 8);
  const unknown = [];
  const samples = samplesOf('digits_cnn', 'calib').values();
  await learn('digits_cnn', {}, { onProgress: ({ total }) => unknown.push(total) }, samples);
  assert.deepEqual(new Set(unknown), new Set([null]));
});
