// onnxruntime-web behind one small class: tensors in and out as the core has them.
import type { Sample, TensorValue } from 'octet-core';
import * as ort from 'onnxruntime-web/wasm';
import { failure } from './protocol';
import type { ModelSource } from './protocol';

ort.env.wasm.numThreads = 1; // more need a page that is cross-origin isolated
ort.env.logLevel = 'error';

export const RUNTIME = `ONNX Runtime ${ort.env.versions.web ?? ''} in this browser, one thread`;

// Above this a model does not fit the runtime's 32-bit memory beside its own copy.
const MOST_BYTES = 1.5e9;

const ARRAYS = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, bool: Uint8Array, int8: Int8Array,
  uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array,
  int64: BigInt64Array, uint64: BigUint64Array,
} as const;

type Known = keyof typeof ARRAYS;

function toTensor(name: string, { type, dims, data }: TensorValue): ort.Tensor {
  if (!(type in ARRAYS)) {
    throw failure('unsupported', `takes ${type}, which this runtime has no tensors for`, '', `input '${name}'`);
  }
  const buffer = data.slice().buffer;
  return new ort.Tensor(type as Known, new ARRAYS[type as Known](buffer) as never, dims);
}

function fromTensor(tensor: ort.Tensor): TensorValue {
  const { buffer, byteOffset, byteLength } = tensor.data as Float32Array;
  return { type: tensor.type, dims: [...tensor.dims], data: new Uint8Array(buffer, byteOffset, byteLength).slice() };
}

// The runtime's own words, without the places of its sources.
function complaint(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n')[0]!.replace(/\/\S+\.(cc|h):\d+ (\S+ )?/g, '').slice(0, 400);
}

export class Session {
  private constructor(readonly name: string, private readonly session: ort.InferenceSession) {}

  static async open(source: ModelSource): Promise<Session> {
    const external = Object.entries(source.files);
    const bytes = external.reduce((sum, [, file]) => sum + file.size, source.model.size);
    if (bytes > MOST_BYTES) {
      throw failure('unsupported', 'is too large to run in a page', 'octet quantize verifies it natively', source.name);
    }
    const read = async (blob: Blob) => new Uint8Array(await blob.arrayBuffer());
    const externalData = await Promise.all(external.map(async ([path, file]) => ({ path, data: await read(file) })));
    try {
      const options: ort.InferenceSession.SessionOptions = { executionProviders: ['wasm'], logSeverityLevel: 3 };
      if (externalData.length > 0) options.externalData = externalData;
      return new Session(source.name, await ort.InferenceSession.create(await read(source.model), options));
    } catch (error) {
      throw failure('run', `does not load: ${complaint(error)}`, '', source.name);
    }
  }

  feeds(sample: Sample): Record<string, ort.Tensor> {
    const feeds: Record<string, ort.Tensor> = {};
    for (const name of this.session.inputNames) {
      if (!sample[name]) throw failure('data', `has no values for input '${name}'`, '', 'sample');
      feeds[name] = toTensor(name, sample[name]);
    }
    return feeds;
  }

  async run(feeds: Record<string, ort.Tensor>): Promise<Sample> {
    try {
      const outputs = await this.session.run(feeds);
      const numbers = Object.entries(outputs).filter(([, tensor]) => tensor.type in ARRAYS);
      return Object.fromEntries(numbers.map(([name, tensor]) => [name, fromTensor(tensor)]));
    } catch (error) {
      throw failure('run', `does not run: ${complaint(error)}`, '', this.name);
    }
  }

  // Milliseconds of one run, averaged over `repeats`: the page's clock is too coarse for one of a small model.
  async time(feeds: Record<string, ort.Tensor>, repeats: number): Promise<number> {
    const start = performance.now();
    for (let i = 0; i < repeats; ++i) await this.session.run(feeds);
    return (performance.now() - start) / repeats;
  }

  async close() {
    await this.session.release();
  }
}
