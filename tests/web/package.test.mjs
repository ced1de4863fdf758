// The npm package as others use it: packed, installed into an empty project, built by Vite as it comes, in Chromium.
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT } from '../wasm/load_octet.mjs';
import { quantize, sha256 } from '../wasm/octet_runs.mjs';
import { launch, openPage, strangers } from './browser.mjs';
import { makeProject } from './package_project.mjs';

const ISOLATED = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
const project = makeProject();
let browser, folder;

before(async () => {
  folder = project.build();
  for (const name of ['digits_cnn', 'gpt_char']) cpSync(join(ROOT, `tests/data/${name}.onnx`), join(folder, `${name}.onnx`));
  for (const part of ['calib', 'eval']) cpSync(join(ROOT, 'tests/data/digits_cnn', part), join(folder, part), { recursive: true });
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
    window.bytesOf = async (blob) => [...new Uint8Array(await blob.arrayBuffer())];
    window.failureOf = (work) => work.then(() => 'it did not fail', ({ name, message, error }) => ({ name, message, error }));
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
    return {
      bytes: await window.bytesOf(output.model), name: output.name, words: window.example.tell(comparison), stages, comparison,
    };
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
