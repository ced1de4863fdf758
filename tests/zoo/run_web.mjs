// Runs models in onnxruntime-web under Node, as a page would: bytes in, one thread, WebAssembly.
//
// Reads one job per line from standard input and answers each with one line:
//   {"model": path, "samples": [[{"name", "type", "dims", "file"}]], "folder": path}
//   {"outputs": [[{"name", "type", "dims", "file"}]]}  or  {"error": text}
// with a list of tensors for each sample. Tensors are files of little-endian elements, types have the names
// onnxruntime-web gives them. OCTET_NODE_MODULES tells where that is.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.env.OCTET_NODE_MODULES, 'package.json'));
const ort = await import(pathToFileURL(require.resolve('onnxruntime-web')));
ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'error';

const ARRAYS = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, bool: Uint8Array, int8: Int8Array,
  uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array,
  int64: BigInt64Array, uint64: BigUint64Array,
};

function readTensor({ type, dims, file }) {
  const bytes = readFileSync(file);
  const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return new ort.Tensor(type, new ARRAYS[type](copy), dims);
}

function writeTensor(name, tensor, file) {
  writeFileSync(file, new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength));
  return { name, type: tensor.type, dims: tensor.dims, file };
}

async function run({ model, samples, folder }) {
  const options = { executionProviders: ['wasm'], logSeverityLevel: 3 };
  const session = await ort.InferenceSession.create(readFileSync(model), options);
  try {
    const outputs = [];
    for (const [i, sample] of samples.entries()) {
      const results = await session.run(Object.fromEntries(sample.map((input) => [input.name, readTensor(input)])));
      const named = Object.entries(results);
      outputs.push(named.map(([name, tensor], k) => writeTensor(name, tensor, join(folder, `output_${i}_${k}.bin`))));
    }
    return outputs;
  } finally {
    await session.release();
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = { outputs: await run(JSON.parse(line)) };
  } catch (error) {
    answer = { error: String(error?.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
