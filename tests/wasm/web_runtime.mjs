// onnxruntime-web under Node, as a page has it: one thread, WebAssembly.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './load_octet.mjs';

// Where scripts/setup put the npm packages.
function nodeModules() {
  const set = process.env.OCTET_NODE_MODULES;
  return set ?? /OCTET_NODE_MODULES='([^']*)'/.exec(readFileSync(join(ROOT, 'build/deps/env.sh'), 'utf8'))[1];
}

export const NODE_MODULES = nodeModules();
const require = createRequire(join(NODE_MODULES, 'package.json'));
export const ort = await import(pathToFileURL(require.resolve('onnxruntime-web')));
ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'error';

const ARRAYS = { float32: Float32Array, int64: BigInt64Array };

export function toTensor({ type, dims, data }) {
  return new ort.Tensor(type, new ARRAYS[type](data.slice().buffer), dims);
}

function fromTensor({ type, dims, data }) {
  return { type, dims: [...dims], data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice() };
}

// Of what the module wrote: { model, external, external_name }.
export function sessionOf({ model, external, external_name: path }, options = {}) {
  const externalData = external ? [{ path, data: external }] : undefined;
  const fixed = { executionProviders: ['wasm'], logSeverityLevel: 3, externalData };
  return ort.InferenceSession.create(model, { ...fixed, ...options });
}

// Outputs of every sample, as the core takes them.
export async function outputsOf(model, samples) {
  const session = await sessionOf({ model });
  try {
    const outputs = [];
    for (const sample of samples) {
      const feeds = Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, toTensor(value)]));
      const named = Object.entries(await session.run(feeds));
      outputs.push(Object.fromEntries(named.map(([name, tensor]) => [name, fromTensor(tensor)])));
    }
    return outputs;
  } finally {
    await session.release();
  }
}
