// The command line and the module give the same bytes for the embedded models, whatever is asked.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT } from './load_octet.mjs';
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

// Runs the command line; what it refuses comes back as its exit status.
function native(name, options) {
  const output = join(folder, `${name}.onnx`);
  const words = ['quantize', modelPath(name), '-o', output, '--no-verify', '--force', '--json', ...flags(options)];
  const report = JSON.parse(execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }));
  return { model: readFileSync(output), report };
}

for (const name of MODELS) {
  for (const options of VARIANTS) {
    test(`${name} ${JSON.stringify(options)}`, { skip }, () => {
      const there = native(name, options);
      const here = quantize(name, options);
      assert.equal(sha256(here.model), sha256(there.model));
      for (const part of ['model', 'passes', 'plan', 'sizes']) assert.deepEqual(here.report[part], there.report[part]);
    });
  }
}

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
      const report = JSON.parse(execFileSync(program, line, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }));
      const here = octet.prepare_model({ name: `${name}.onnx`, model: modelBytes(name), options });
      assert.equal(here.error, undefined, here.error?.message);
      assert.equal(sha256(here.model), sha256(readFileSync(output)));
      for (const part of Object.keys(here.report)) assert.deepEqual(here.report[part], report[part], part);
    });
  }
}
