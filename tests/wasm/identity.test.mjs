// The command line and the module give the same bytes for the embedded models, whatever is asked.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT } from './load_octet.mjs';
import { rangesOf } from './calibrated.mjs';
import { modelBytes, modelPath, MODELS, octet, quantize, sha256 } from './octet_runs.mjs';

const program = process.env.OCTET_EXECUTABLE ?? join(ROOT, 'build/native/octet');
const skip = existsSync(program) ? false : 'the command line is not built (scripts/octet builds it)';
const folder = mkdtempSync(join(tmpdir(), 'octet-identity-'));
after(() => rmSync(folder, { recursive: true }));

const VARIANTS = [
  { mode: 'dynamic' },
  { mode: 'weights' },
  { mode: 'dynamic', target: 'x64' },
  { mode: 'weights', target: 'x64' },
  { mode: 'weights', target: 'any' },
  { mode: 'weights', per_channel: false },
  { mode: 'dynamic', per_channel: true, weight_type: 'quint8' },
  { mode: 'dynamic', reduce_range: true },
  { mode: 'dynamic', op_types: ['Conv', 'MatMul'] },
  { mode: 'weights', weight_type: 'qint16' },
  { mode: 'weights', weight_type: 'qint4', target: 'x64' },
  { mode: 'weights', weight_type: 'quint4' },
  { mode: 'weights', block_size: 32, target: 'x64' },
];

function flags(options) {
  return Object.entries({ target: 'wasm', ...options }).flatMap(([key, value]) => {
    if (key === 'per_channel') return [value ? '--per-channel' : '--per-tensor'];
    const flag = `--${key.replaceAll('_', '-')}`;
    return value === true ? [flag] : [flag, Array.isArray(value) ? value.join(',') : String(value)];
  });
}

const run = (words) => execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

function native(name, options, more = []) {
  const output = join(folder, `${name}.onnx`);
  const words = ['quantize', modelPath(name), '-o', output, '--no-verify', '--force', '--json', ...flags(options)];
  const report = JSON.parse(run([...words, ...more]));
  return { model: readFileSync(output), report };
}

function same(here, there) {
  assert.equal(sha256(here.model), sha256(there.model));
  for (const part of ['model', 'passes', 'plan', 'sizes']) assert.deepEqual(here.report[part], there.report[part]);
}

for (const name of MODELS) {
  for (const options of VARIANTS) {
    test(`${name} ${JSON.stringify(options)}`, { skip }, () => {
      same(quantize(name, options), native(name, options));
    });
  }
}

const STATIC = [
  ...['minmax', 'average', 'entropy', 'percentile', 'mse', 'best'].map((method) => ({ method })),
  { format: 'qoperator' },
  { format: 'qoperator', method: 'best', per_channel: false },
  { method: 'entropy', per_channel: false },
  { method: 'percentile', percentile: 99.5, symmetric_activations: true, activation_type: 'qint8' },
  { method: 'mse', activation_type: 'quint16', target: 'any' },
  { target: 'x64', weight_type: 'quint8' },
  { target: 'arm64', reduce_range: true },
  { op_types: ['Conv', 'MatMul'] },
];

const learned = new Map();

// What the command line learns of a model's own samples, as a file.
function nativeRanges(name) {
  if (!learned.has(name)) {
    const path = join(folder, `${name}.ranges.json`);
    run(['calibrate', modelPath(name), '--calib', join(ROOT, 'tests/data', name, 'calib'), '-o', path]);
    learned.set(name, path);
  }
  return learned.get(name);
}

for (const name of MODELS) {
  for (const options of STATIC) {
    test(`${name} static ${JSON.stringify(options)}`, { skip }, () => {
      const path = nativeRanges(name);
      const here = quantize(name, options, { ranges: readFileSync(path, 'utf8') });
      assert.ok(here.report.plan.activations.length > 0);
      same(here, native(name, options, ['--ranges', path]));
    });
  }

  test(`${name}: ranges cross both ways`, { skip }, async () => {
    const ranges = await rangesOf(name), path = join(folder, `${name}.web.json`);
    writeFileSync(path, ranges);
    same(quantize(name, {}, { ranges }), native(name, {}, ['--ranges', path]));
    const both = join(folder, `${name}.both.json`);
    run(['calibrate', '--merge', path, nativeRanges(name), '-o', both]);
    const merged = octet.merge_ranges([ranges, readFileSync(nativeRanges(name), 'utf8')]);
    assert.equal(merged.ranges.trimEnd(), readFileSync(both, 'utf8').trimEnd());
  });
}

test('a plan that the command line smoothed is taken here', { skip }, () => {
  const plan = join(folder, 'smoothed.json');
  const more = ['--calib', join(ROOT, 'tests/data/gpt_char/calib'), '--smooth-quant', '0.5', '--save-plan', plan];
  const there = native('gpt_char', {}, more), given = JSON.parse(readFileSync(plan, 'utf8'));
  assert.ok(given.smoothed.length > 0);
  assert.equal(sha256(quantize('gpt_char', { plan: given }).model), sha256(there.model));
});

const PREPARATIONS = [
  [{}, []],
  [{ opset: 18 }, ['--opset', '18']],
  [{ dims: { batch: 1 } }, ['--dim', 'batch=1']],
];

for (const name of MODELS) {
  for (const [options, words] of PREPARATIONS) {
    test(`${name} prepared ${JSON.stringify(options)}`, { skip }, () => {
      const output = join(folder, `${name}.prepared.onnx`);
      const line = ['prepare', modelPath(name), '-o', output, '--no-verify', '--force', '--json', ...words];
      const report = JSON.parse(run(line));
      const here = octet.prepare_model({ name: `${name}.onnx`, model: modelBytes(name), options });
      assert.equal(here.error, undefined, here.error?.message);
      assert.equal(sha256(here.model), sha256(readFileSync(output)));
      for (const part of Object.keys(here.report)) assert.deepEqual(here.report[part], report[part], part);
    });
  }
}
