// onnxruntime-web behind one small class: tensors in and out as the core has them.
import * as Ort from 'onnxruntime-web/wasm';
import type { Sample, TensorValue, WrittenInMemory } from '../octet.js';
import { failure } from './error.js';
import { bytesOf, LARGEST_TO_RUN } from './readers.js';
import { ARRAYS, asFailure, toTensor } from './tensors.js';
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

function fromTensor(tensor: Ort.Tensor): TensorValue {
  const { buffer, byteOffset, byteLength } = tensor.data as Float32Array;
  return { type: tensor.type, dims: [...tensor.dims], data: new Uint8Array(buffer, byteOffset, byteLength) };
}

async function readable(source: ModelFiles): Promise<Bytes> {
  if (bytesOf(source) > LARGEST_TO_RUN) {
    throw failure('unsupported', 'is too large to run in a page', 'octet quantize verifies it natively', source.name);
  }
  const read = async (blob: Blob) => new Uint8Array(await blob.arrayBuffer());
  const files = Object.entries(source.files ?? {});
  const externalData = await Promise.all(files.map(async ([path, file]) => ({ path, data: await read(file) })));
  return { model: await read(source.model), externalData };
}

interface Bytes {
  model: Uint8Array;
  externalData: { path: string; data: Uint8Array }[];
}

export class Session {
  private constructor(
    readonly name: string, readonly load_ms: number, private readonly ort: Runtime,
    private readonly session: Ort.InferenceSession,
  ) {}

  static async open(ort: Runtime, source: ModelFiles, optimized = true): Promise<Session> {
    try {
      return await Session.load(ort, source.name, await readable(source), optimized);
    } catch (error) {
      throw asFailure('read', 'cannot be read', error, source.name);
    }
  }

  /** What the core wrote. Where it is not optimized, every value between its nodes is left in place. */
  static async written(
    ort: Runtime, name: string,
    { model, external, external_name }: Pick<WrittenInMemory, 'model' | 'external' | 'external_name'>,
    optimized: boolean,
  ): Promise<Session> {
    const externalData = external && external_name ? [{ path: external_name, data: external }] : [];
    return Session.load(ort, name, { model, externalData }, optimized);
  }

  private static async load(ort: Runtime, name: string, { model, externalData }: Bytes, optimized: boolean) {
    const options: Ort.InferenceSession.SessionOptions = { executionProviders: ['wasm'], logSeverityLevel: 3 };
    if (!optimized) options.graphOptimizationLevel = 'disabled';
    if (externalData.length > 0) options.externalData = externalData;
    try {
      const start = performance.now();
      const session = await ort.InferenceSession.create(model, options);
      return new Session(name, performance.now() - start, ort, session);
    } catch (error) {
      throw asFailure('run', 'does not load', error, name);
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

  /** All outputs, or those of `names`; what is no number is left out. */
  async run(feeds: Record<string, Ort.Tensor>, names?: string[]): Promise<Sample> {
    if (names?.length === 0) return {};
    try {
      const outputs = await (names ? this.session.run(feeds, names) : this.session.run(feeds));
      const numbers = Object.entries(outputs).filter(([, tensor]) => tensor.type in ARRAYS);
      return Object.fromEntries(numbers.map(([name, tensor]) => [name, fromTensor(tensor)]));
    } catch (error) {
      throw asFailure('run', 'does not run', error, this.name);
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
