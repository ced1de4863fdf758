// The npm package as others use it: packed, installed into an empty project, built by Vite as it comes, in Chromium.
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT } from '../wasm/load_octet.mjs';
import { rangesOf } from '../wasm/calibrated.mjs';
import { modelBytes, octet, quantize, sha256 } from '../wasm/octet_runs.mjs';
import { ISOLATED, launch, openPage, strangers } from './browser.mjs';
import { greedyModel } from './greedy_model.mjs';
import { testAuto } from './package_auto.mjs';
import { testData } from './package_data.mjs';
import { testDisk } from './package_disk.mjs';
import { makeProject } from './package_project.mjs';

const project = makeProject();
let browser, folder;

before(async () => {
  folder = project.build();
  const copy = (from, to) => cpSync(join(ROOT, 'tests/data', from), join(folder, to), { recursive: true });
  for (const name of ['digits_cnn.onnx', 'gpt_char.onnx']) copy(name, name);
  for (const part of ['calib', 'eval']) copy(join('digits_cnn', part), part);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  project.remove();
});

// What every test finds in its page.
async function helpers(page) {
  await page.waitForFunction(() => window.octet && window.example);
  await page.evaluate(() => {
    const get = async (path) => (await fetch(path)).blob();
    window.modelFile = async (name) => new File([await get(`${name}.onnx`)], `${name}.onnx`);
    window.sampleFiles = (part, count) => Promise.all(Array.from({ length: count }, async (_, i) => {
      const name = `${String(i).padStart(4, '0')}.npz`;
      return { name, blob: await get(`${part}/${name}`) };
    }));
    // Every file of the origin private file system, as a path.
    window.filesOnDisk = async (folder, path = '') => {
      const found = [];
      for await (const [name, handle] of (folder ?? (await navigator.storage.getDirectory())).entries()) {
        if (handle.kind === 'file') found.push(`${path}${name}`);
        else found.push(...(await window.filesOnDisk(handle, `${path}${name}/`)));
      }
      return found;
    };
    window.untilEmpty = async () => {
      // Folders may go while they are looked at.
      const look = () => window.filesOnDisk().catch(() => ['a folder that just went']);
      let files = await look();
      for (let i = 0; i < 100 && files.length > 0; ++i) {
        await new Promise((go) => setTimeout(go, 50));
        files = await look();
      }
      return files;
    };
    window.bytesOf = async (blob) => [...new Uint8Array(await blob.arrayBuffer())];
    window.failureOf = (work) =>
      work.then(() => 'it did not fail', ({ name, message, error }) => ({ name, message, error }));
  });
}

function inPage(name, options, steps) {
  test(name, { timeout: 240_000 }, async () => {
    const opened = await openPage(browser, { folder, ...options });
    try {
      await helpers(opened.page);
      await steps((work, given) => opened.page.evaluate(work, given), opened.page);
      assert.deepEqual(strangers(opened.requests, opened.url), [], 'requests to other places');
      assert.deepEqual(opened.complaints, [], 'complaints in the console');
    } finally {
      await opened.close();
    }
  });
}

test('its declarations hold for the README, as TypeScript', { timeout: 120_000 }, () => {
  assert.equal(project.check(), '');
  const packed = project.packed.files.map(({ path }) => path);
  for (const path of ['lib/index.js', 'lib/index.d.ts', 'octet.wasm', 'README.md', 'LICENSE']) {
    assert.ok(packed.includes(path), path);
  }
});

inPage('the README\'s first example quantizes, with progress, and compares', {}, async (evaluate) => {
  const { bytes, name, words, stages, comparison } = await evaluate(async () => {
    const told = [], onProgress = (progress) => told.push(progress);
    const file = await window.modelFile('digits_cnn');
    const { output, comparison } = await window.example.shrink(file, onProgress, new AbortController().signal);
    const stages = [...new Set(told.map(({ stage }) => stage))];
    const words = window.example.tell(comparison);
    return { bytes: await window.bytesOf(output.model), name: output.name, words, stages, comparison };
  });
  assert.equal(name, 'digits_cnn.int8.onnx');
  assert.equal(sha256(Uint8Array.from(bytes)), sha256(quantize('digits_cnn', { mode: 'weights' }).model));
  assert.deepEqual(stages, ['plan', 'write', 'runtime', 'check', 'time']);
  assert.match(words, /smaller.* dB, speed by threads 1: [\d.]+×$/);
  assert.equal(comparison.samples.synthetic, true);
  assert.equal(comparison.environment.isolated, false);
  assert.match(comparison.environment.threads_note, /not cross-origin isolated/);
  const [{ reference_ms, candidate_ms, threads }] = comparison.latency_by_threads;
  assert.equal(threads, 1);
  assert.ok(reference_ms.length >= 5 && reference_ms.length === candidate_ms.length);
  assert.ok(comparison.load_ms.reference > 0 && comparison.load_ms.candidate > 0);
});

inPage('several threads where the page is isolated', { headers: ISOLATED }, async (evaluate) => {
  const comparison = await evaluate(async () => {
    const file = await window.modelFile('gpt_char');
    const { output } = await window.octet.quantize(file, { mode: 'weights' });
    return window.octet.compare(file, output, { threads: [1, 2, 64], seconds: 1 });
  });
  assert.deepEqual(comparison.latency_by_threads.map(({ threads }) => threads), [1, 2]);
  for (const { reference_ms, speedup, runs_per_block } of comparison.latency_by_threads) {
    assert.ok(reference_ms.every((ms) => ms > 0) && speedup.ratio > 0 && runs_per_block >= 1);
  }
  assert.ok(comparison.worst_sqnr_db > 20, `${comparison.worst_sqnr_db}`);
  assert.equal(comparison.environment.isolated, true);
  assert.equal(comparison.environment.threads_note, undefined);
});

inPage('the README\'s second example makes a static model; ranges are those of Node', {}, async (evaluate) => {
  const { bytes, ranges, told, again } = await evaluate(async () => {
    const model = { name: 'digits.onnx', model: await window.modelFile('digits_cnn') };
    const files = await window.sampleFiles('calib', 8), told = [];
    const onProgress = ({ stage, done, total }) => told.push([stage, done, total]);
    const { output, ranges } = await window.octet.quantize(
      model, { calib: { files }, method: 'best', target: 'wasm' }, { onProgress });
    const pictures = Array.from({ length: 3 }, (_, i) => new Float32Array(64).fill(i));
    const again = await window.example.makeStatic(model, pictures);
    return { bytes: await window.bytesOf(output.model), ranges, told, again: JSON.parse(again.ranges).samples };
  });
  const learned = await rangesOf('digits_cnn');
  assert.equal(ranges, learned);
  const { model } = quantize('digits_cnn', { method: 'best' }, { ranges: learned });
  assert.equal(sha256(Uint8Array.from(bytes)), sha256(model));
  assert.deepEqual(told.filter(([stage]) => stage === 'calibrate').at(-1), ['calibrate', 8, 8]);
  assert.equal(again, 3);
});

inPage('layers are compared, the worst first', {}, async (evaluate) => {
  const { layers, told } = await evaluate(async () => {
    const model = await window.modelFile('digits_cnn'), told = [];
    const calib = { files: await window.sampleFiles('calib', 8) };
    const { output } = await window.octet.quantize(model, { calib });
    const samples = { files: await window.sampleFiles('eval', 2) };
    const onProgress = ({ stage, done }) => told.push([stage, done]);
    return { layers: await window.octet.compareLayers(model, output, { samples }, { onProgress }), told };
  });
  assert.equal(layers.samples, 2);
  assert.ok(layers.rounded > 4 && layers.rounded_matched === layers.rounded, JSON.stringify(layers).slice(0, 300));
  const rounding = layers.values.filter(({ qdq_err }) => qdq_err).map(({ qdq_err }) => qdq_err.sqnr_db);
  assert.deepEqual(rounding, rounding.toSorted((a, b) => a - b));
  assert.ok(told.every(([stage]) => stage === 'layers'));
});

inPage('prepares, and inspects what came of it', {}, async (evaluate) => {
  const { name, nodes, report } = await evaluate(async () => {
    const { output, report } = await window.octet.prepare(await window.modelFile('gpt_char'), { dims: { batch: 1 } });
    return { name: output.name, nodes: (await window.octet.inspect(output)).report.model.nodes, report };
  });
  assert.equal(name, 'gpt_char.prepared.onnx');
  assert.equal(nodes, report.nodes.after);
  const options = { dims: { batch: 1 } };
  assert.deepEqual(report, octet.prepare_model({ model: modelBytes('gpt_char'), options }).report);
});

const STAGES = ['plan', 'write', 'calibrate', 'runtime', 'check', 'time', 'layers'];

inPage('an abort in any stage rejects with its reason, and work goes on', {}, async (evaluate) => {
  const ended = await evaluate(async (stages) => {
    const file = await window.modelFile('digits_cnn'), { quantize, compare, compareLayers } = window.octet;
    const calib = { files: await window.sampleFiles('calib', 8) };
    const { output } = await quantize(file, { calib });
    const ended = {};
    for (const stage of stages) {
      const controller = new AbortController(), reason = new Error(`enough of ${stage}`);
      const onProgress = (progress) => progress.stage === stage && controller.abort(reason);
      const hooks = { onProgress, signal: controller.signal };
      const work = {
        plan: () => quantize(file, {}, hooks), write: () => quantize(file, {}, hooks),
        calibrate: () => quantize(file, { calib }, hooks), layers: () => compareLayers(file, output, {}, hooks),
      };
      await (work[stage] ?? (() => compare(file, output, {}, hooks)))().then(
        () => (ended[stage] = 'it came to its end'), (error) => (ended[stage] = error === reason));
    }
    const before = new AbortController();
    before.abort(new Error('before'));
    ended.before = await window.failureOf(quantize(file, {}, { signal: before.signal }));
    // One that waits is taken out of the queue; those around it are not touched.
    const waiting = new AbortController();
    const first = quantize(file);
    const second = window.failureOf(quantize(file, {}, { signal: waiting.signal }));
    const third = quantize(file, { mode: 'weights' });
    waiting.abort(new Error('waited long enough'));
    ended.queue = [(await first).report.plan.mode, (await second).message, (await third).report.plan.mode];
    return ended;
  }, STAGES);
  for (const stage of STAGES) assert.equal(ended[stage], true, `${stage}: ${ended[stage]}`);
  assert.equal(ended.before.message, 'before');
  assert.deepEqual(ended.queue, ['dynamic', 'waited long enough', 'weights']);
});

inPage('failures are in words, with a way on', {}, async (evaluate) => {
  const failures = await evaluate(async () => {
    const { quantize, calibrate, compare, inspect, Octet } = window.octet, { failureOf } = window;
    const file = await window.modelFile('digits_cnn'), { output } = await quantize(file);
    const cut = { name: 'cut.onnx', model: file.slice(0, 5000) };
    const split = (await quantize(file, { mode: 'weights', external_data: true })).output;
    const small = { image: { type: 'float32', dims: [1, 1, 4, 4], data: new Float32Array(16) } };
    const lacking = new Octet({ createWorker: () => new Worker('nowhere.js', { type: 'module' }) });
    const closed = new Octet(), closing = failureOf(closed.inspect(file));
    closed.close();
    return {
      cut: await failureOf(inspect(cut)),
      option: await failureOf(quantize(file, { mode: 'magic' })),
      missing: await failureOf(inspect({ name: 'split.onnx', model: split.model })),
      function: await failureOf(quantize(file, { mode: () => 1 })),
      model: await failureOf(quantize('digits.onnx')),
      source: await failureOf(calibrate(file, 7)),
      none: await failureOf(calibrate(file, [])),
      sample: await failureOf(calibrate(file, [small])),
      files: await failureOf(calibrate(file, { files: [{ name: 'a.txt', blob: new Blob(['a']) }] })),
      npz: await failureOf(calibrate(file, { files: [{ name: 'a.npz', blob: new Blob(['a']) }] })),
      candidate: await failureOf(compare(file, { name: 'cut.onnx', model: output.model.slice(0, 9000) })),
      worker: await failureOf(lacking.inspect(file)),
      closing: await closing,
      closed: await failureOf(closed.inspect(file)),
      after: (await inspect(file)).report.model.nodes > 0,
    };
  });
  const { closing, closed, after, ...rest } = failures;
  for (const [what, { name, error }] of Object.entries(rest)) {
    assert.equal(name, 'OctetError', `${what}: ${JSON.stringify(rest[what])}`);
    assert.ok(error.problem && error.message && error.exit_status, `${what}: ${JSON.stringify(error)}`);
  }
  const codes = Object.fromEntries(Object.entries(rest).map(([what, { error }]) => [what, error.code]));
  assert.deepEqual(codes, {
    cut: 'malformed', option: 'usage', missing: 'read', function: 'usage', model: 'usage', source: 'usage',
    none: 'data', sample: 'data', files: 'data', npz: 'data', candidate: 'run', worker: 'internal',
  });
  assert.equal(rest.missing.error.missing, 'digits_cnn.int8.onnx.data');
  assert.equal(rest.worker.error.next, 'try again');
  assert.deepEqual([closing.name, closed.name, after], ['AbortError', 'AbortError', true]);
});

inPage('want of memory is told in words, and work goes on', {}, async (evaluate) => {
  const { failed, layers, after } = await evaluate(async (greedy) => {
    const model = { name: 'greedy.onnx', model: new Blob([Uint8Array.from(greedy)]) };
    const { compare, compareLayers, inspect } = window.octet;
    return {
      failed: await window.failureOf(compare(model, model)), layers: await window.failureOf(compareLayers(model, model)),
      after: (await inspect(model)).report.model.nodes,
    };
  }, greedyModel(40_000));
  for (const { error } of [failed, layers]) {
    assert.deepEqual([error.code, error.problem], ['unsupported', 'does not fit the memory of a page']);
    assert.match(error.next, /command line/);
  }
  assert.equal(after, 1);
});

testAuto(inPage);
testData(inPage);
testDisk(inPage, helpers);
