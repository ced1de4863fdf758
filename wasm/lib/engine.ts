// onnxruntime-web behind one small class: tensors in and out as the core has them.
import * as Ort from 'onnxruntime-web/wasm';
import type { Sample, TensorValue } from '../octet.js';
import { failure } from './error.js';
import { bytesOf } from './readers.js';
import { ARRAYS, complaint, toTensor } from './tensors.js';
import type { ModelFiles } from './types.js';

export type Runtime = typeof Ort;

let threadsUsed: number | undefined;

/** The runtime of this worker: how many threads it has is settled by its first use. */
export function runtimeWith(threads: number): Runtime {
  threadsUsed ??= threads;
  if (threads !== threadsUsed) {
    throw failure('internal', `the runtime has ${threadsUsed} threads and cannot change to ${threads}`);
  }
  Ort.env.wasm.numThreads = threads;
  Ort.env.logLevel = 'error';
  return Ort;
}

export const describeRuntime = () => `ONNX Runtime ${Ort.env.versions.web ?? ''} in this browser`;

// Above this a model does not fit the runtime's 32-bit memory beside its own copy.
const MOST_BYTES = 1.5e9;

function fromTensor(tensor: Ort.Tensor): TensorValue {
  const { buffer, byteOffset, byteLength } = tensor.data as Float32Array;
  return { type: tensor.type, dims: [...tensor.dims], data: new Uint8Array(buffer, byteOffset, byteLength).slice() };
}

export class Session {
  private constructor(
    readonly name: string, readonly load_ms: number, private readonly ort: Runtime,
    private readonly session: Ort.InferenceSession,
  ) {}

  static async open(ort: Runtime, source: ModelFiles): Promise<Session> {
    if (bytesOf(source) > MOST_BYTES) {
      throw failure('unsupported', 'is too large to run in a page', 'octet quantize verifies it natively', source.name);
    }
    const read = async (blob: Blob) => new Uint8Array(await blob.arrayBuffer());
    const external = Object.entries(source.files ?? {});
    const externalData = await Promise.all(external.map(async ([path, file]) => ({ path, data: await read(file) })));
    const model = await read(source.model);
    const options: Ort.InferenceSession.SessionOptions = { executionProviders: ['wasm'], logSeverityLevel: 3 };
    if (externalData.length > 0) options.externalData = externalData;
    try {
      const start = performance.now();
      const session = await ort.InferenceSession.create(model, options);
      return new Session(source.name, performance.now() - start, ort, session);
    } catch (error) {
      throw failure('run', `does not load: ${complaint(error)}`, '', source.name);
    }
  }

  feeds(sample: Sample): Record<string, Ort.Tensor> {
    const feeds: Record<string, Ort.Tensor> = {};
    const { inputNames } = this.session, given = Object.values(sample);
    for (const name of inputNames) {
      // A single tensor goes to a single input.
      const value = sample[name] ?? (given.length === 1 && inputNames.length === 1 ? given[0] : undefined);
      if (!value) throw failure('data', `has no values for input '${name}'`, '', 'sample');
      feeds[name] = toTensor(this.ort, name, value) as Ort.Tensor;
    }
    return feeds;
  }

  async run(feeds: Record<string, Ort.Tensor>): Promise<Sample> {
    try {
      const outputs = await this.session.run(feeds);
      const numbers = Object.entries(outputs).filter(([, tensor]) => tensor.type in ARRAYS);
      return Object.fromEntries(numbers.map(([name, tensor]) => [name, fromTensor(tensor)]));
    } catch (error) {
      throw failure('run', `does not run: ${complaint(error)}`, '', this.name);
    }
  }

  /** Milliseconds of one run, averaged over `repeats`. */
  async time(feeds: Record<string, Ort.Tensor>, repeats: number): Promise<number> {
    const start = performance.now();
    for (let i = 0; i < repeats; ++i) await this.session.run(feeds);
    return (performance.now() - start) / repeats;
  }

  async close() {
    await this.session.release();
  }
}
