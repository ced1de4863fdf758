// What goes in and comes out of the package besides models: package.test.mjs runs these.
import assert from 'node:assert/strict';

export function testData(inPage) {
  inPage('samples are taken one by one, as tensors, from a generator', {}, async (evaluate) => {
    const { asked, samples, cut } = await evaluate(async () => {
      const asked = [], model = await window.modelFile('digits_cnn');
      async function* given() {
        for (let i = 0; i < 5; ++i) {
          asked.push(i);
          const data = Array.from({ length: 64 }, (_, k) => k % (i + 2));
          yield { image: { type: 'float32', dims: [1, 1, 8, 8], data } };
        }
      }
      const { samples } = await window.octet.calibrate(model, given());
      async function* broken() {
        yield* given();
        throw new RangeError('no more of these');
      }
      const cut = await window.failureOf(window.octet.calibrate(model, broken()));
      return { asked, samples, cut };
    });
    assert.equal(samples, 5);
    assert.deepEqual(asked, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
    assert.deepEqual([cut.name, cut.message], ['RangeError', 'no more of these']);
  });

  inPage('drift is told before times are; with the plan the verdict says what to try', {}, async (evaluate) => {
    const { partials, order, comparison } = await evaluate(async () => {
      const file = await window.modelFile('digits_cnn'), partials = [], order = [];
      const { output, report } = await window.octet.quantize(file, { mode: 'dynamic' });
      const hooks = {
        onPartial: (partial) => (order.push('partial'), partials.push(partial)),
        onProgress: ({ stage }) => order.at(-1) !== stage && order.push(stage),
      };
      const comparison = await window.octet.compare(file, output, { plan: report.plan, seconds: 0.5 }, hooks);
      return { partials, order, comparison };
    });
    assert.deepEqual(order, ['runtime', 'check', 'partial', 'check', 'partial', 'time']);
    const [first, { latency_by_threads, drift, latency }] = partials;
    assert.deepEqual([partials.length, latency_by_threads.length, latency], [2, 0, undefined]);
    assert.deepEqual(drift, comparison.drift);
    assert.equal(first.samples.count, 1);
    assert.match(first.samples.description, /^the first of 2 /);
    assert.ok(comparison.verdict.next.length > 0, JSON.stringify(comparison.verdict));
  });

  inPage('weights and activations have histograms', {}, async (evaluate) => {
    const { weight, activations, refused } = await evaluate(async () => {
      const { quantize, weightHistogram, activationHistograms } = window.octet;
      const file = await window.modelFile('digits_cnn'), calib = { files: await window.sampleFiles('calib', 4) };
      const { report, ranges } = await quantize(file, { calib });
      const [{ tensor, axis }] = report.plan.tensors;
      return {
        weight: await weightHistogram(file, { tensor, axis, bins: 16 }),
        activations: await activationHistograms(ranges, { bins: 8 }),
        refused: await window.failureOf(weightHistogram(file, { tensor: 'nowhere' })),
      };
    });
    assert.equal(weight.counts.length, 16);
    assert.equal(weight.counts.reduce((sum, count) => sum + count), weight.values);
    assert.ok(weight.channels.length > 1 && weight.low < weight.high);
    assert.ok(activations.length > 4 && activations.every(({ counts }) => counts.length === 8));
    assert.equal(refused.error.code, 'usage');
  });

  inPage('samples are read as the model takes them', {}, async (evaluate) => {
    const { read, handed, made, dims, refused } = await evaluate(async () => {
      const { readSamples } = window.octet, model = await window.modelFile('digits_cnn');
      const files = (await window.sampleFiles('calib', 3)).map(({ name, blob }) => ({ name: `mine/${name}`, blob }));
      const picture = { type: 'float32', dims: [1, 1, 8, 8], data: new Float32Array(64) };
      const gpt = await window.modelFile('gpt_char');
      return {
        read: await readSamples(model, { files, limit: 2 }, { limit: 1 }),
        handed: await readSamples(model, [{ image: picture }]),
        made: await readSamples(gpt, { synthetic: { count: 5, seed: 3 } }, { limit: 2 }),
        dims: await readSamples(gpt, { synthetic: { dims: { 'idx:1': 7 } } }, { limit: 1 }),
        refused: await window.failureOf(readSamples(gpt, { files })),
      };
    });
    const { samples: [{ name, tensors }], ...rest } = read;
    assert.match(name, /0000/);
    assert.deepEqual([tensors.image.type, tensors.image.dims], ['float32', [16, 1, 8, 8]]);
    assert.deepEqual([rest.count, rest.picture, rest.image.channels], [2, false, 1]);
    assert.match(rest.description, /^2 of 3 samples from mine$/);
    assert.equal(handed.samples.length, 1);
    assert.deepEqual([made.samples.length, made.count], [2, 5]);
    assert.deepEqual(dims.samples[0].tensors.idx.dims, [1, 7]);
    assert.equal(refused.error.code, 'data');
  });

  inPage('options that measure as they go run samples as often as it takes', {}, async (evaluate) => {
    const { notes, ranges, stages, floor, refused } = await evaluate(async () => {
      const { quantize } = window.octet, model = await window.modelFile('digits_cnn');
      const calib = { files: await window.sampleFiles('calib', 4) };
      const data = { files: await window.sampleFiles('eval', 2) };
      const stages = new Set(), onProgress = ({ stage }) => stages.add(stage);
      const { report, ranges } = await quantize(
        model, { calib, data, smooth_quant: 0.5, bias_correction: true }, { onProgress });
      const floor = await quantize(model, { calib: Array.from({ length: 3 }, (_, i) => (
        { image: { type: 'float32', dims: [1, 1, 8, 8], data: new Float32Array(64).fill(i / 3) } })), min_sqnr: 60 });
      const refused = await window.failureOf(quantize(model, { mode: 'static', equalize: true }));
      return { notes: report.plan.notes, ranges, stages: [...stages], floor: floor.report.plan, refused };
    });
    assert.ok(stages.includes('search') && stages.includes('calibrate'), stages.join());
    assert.ok(notes.some((note) => /bias|smooth/i.test(note)), notes.join());
    assert.equal(JSON.parse(ranges).samples, 4);
    assert.ok(floor.notes.some((note) => /floor/.test(note)), floor.notes.join());
    assert.equal(refused.error.code, 'usage');
  });
}
