// Runs models in onnxruntime-web under Node, as a page would: bytes in, one thread, WebAssembly.
//
// Reads one job per line from standard input and answers each with one line:
//   {"model": path, "inputs": [{"name", "type", "dims", "file"}], "folder": path}
//   {"outputs": [{"name", "type", "dims", "file"}]}  or  {"error": text}
// Tensors are files of little-endian elements; types are onnxruntime-web's names. OCTET_NODE_MODULES tells where it is.

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

async function run({ model, inputs, folder }) {
  const options = { executionProviders: ['wasm'], logSeverityLevel: 3 };
  const session = await ort.InferenceSession.create(readFileSync(model), options);
  try {
    const feeds = Object.fromEntries(inputs.map((input) => [input.name, readTensor(input)]));
    const results = await session.run(feeds);
    return Object.entries(results).map(([name, tensor], i) => {
      const file = join(folder, `output_${i}.bin`);
      writeFileSync(file, new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength));
      return { name, type: tensor.type, dims: tensor.dims, file };
    });
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
