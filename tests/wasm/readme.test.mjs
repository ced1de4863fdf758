// The example of wasm/README.md runs as it stands, but for where it imports from.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ROOT } from './load_octet.mjs';
import { modelBytes, octet } from './octet_runs.mjs';
import { samplesOf } from './read_npz.mjs';

const placeOf = {
  'octet-wasm/module': join(ROOT, 'tests/wasm/load_octet.mjs'),
  'octet-wasm/calibrate': join(ROOT, 'tests/wasm/package.mjs'),
  'onnxruntime-web': join(ROOT, 'tests/wasm/web_runtime.mjs'),
};

test('the example makes a static model', async () => {
  const [, code] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'wasm/README.md'), 'utf8'));
  const names = [];
  const here = code
    .replace('import createOctet from', 'import { loadOctet as createOctet } from')
    .replace('import * as ort from', 'import { ort } from')
    .replace(/from '([^']+)'/g, (_, name) => {
      names.push(name);
      return `from ${JSON.stringify(pathToFileURL(placeOf[name]).href)}`;
    });
  assert.deepEqual(names.sort(), Object.keys(placeOf).sort());
  const folder = mkdtempSync(join(tmpdir(), 'octet-readme-'));
  try {
    const path = join(folder, 'example.mjs');
    writeFileSync(path, here);
    const { makeStatic } = await import(pathToFileURL(path).href);
    const model = await makeStatic(modelBytes('digits_cnn'), samplesOf('digits_cnn', 'calib'));
    const { report } = octet.inspect_model({ model });
    assert.ok(report.model.operators.QuantizeLinear > 0);
    await assert.rejects(makeStatic(modelBytes('digits_cnn'), [], undefined), { name: 'OctetError' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
