// What several tests share: the embedded models, calls that must succeed or fail, hashes.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadOctet, ROOT } from './load_octet.mjs';

export const octet = await loadOctet();
export const MODELS = ['digits_cnn', 'gpt_char'];

export const modelPath = (name) => join(ROOT, 'tests/data', `${name}.onnx`);
export const modelBytes = (name) => new Uint8Array(readFileSync(modelPath(name)));
export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

export function quantize(name, options = {}, more = {}) {
  const result = octet.quantize_model({ name: `${name}.onnx`, model: modelBytes(name), options, ...more });
  assert.equal(result.error, undefined, result.error?.message);
  return result;
}

export function errorOf(request, call = octet.quantize_model) {
  const result = call(request);
  assert.deepEqual(Object.keys(result), ['error']);
  return result.error;
}
