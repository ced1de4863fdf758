// What callers give, in the form in which it goes to a worker.
import type { Sample, TensorValue } from '../octet.js';
import { failure } from './error.js';
import type { SentSource } from './protocol.js';
import type { ModelFiles, SampleLike, SampleSource, TensorLike } from './types.js';

const ELEMENTS: Record<string, (values: readonly unknown[]) => ArrayBufferView> = {
  float32: (values) => Float32Array.from(values as number[]),
  float64: (values) => Float64Array.from(values as number[]),
  int8: (values) => Int8Array.from(values as number[]),
  uint8: (values) => Uint8Array.from(values as number[]),
  bool: (values) => Uint8Array.from(values as number[]),
  int16: (values) => Int16Array.from(values as number[]),
  uint16: (values) => Uint16Array.from(values as number[]),
  int32: (values) => Int32Array.from(values as number[]),
  uint32: (values) => Uint32Array.from(values as number[]),
  int64: (values) => BigInt64Array.from(values.map((value) => BigInt(value as number))),
  uint64: (values) => BigUint64Array.from(values.map((value) => BigInt(value as number))),
};

export function sentModel(model: Blob | ModelFiles): ModelFiles {
  if (model instanceof Blob) return { name: model instanceof File ? model.name : 'model.onnx', model };
  if (!(model?.model instanceof Blob)) throw failure('usage', 'is no File and no { name, model }', '', 'model');
  const { name, files = {} } = model;
  return { name, model: model.model, files };
}

function sentTensor(name: string, { type, dims, data }: TensorLike): TensorValue {
  const view = ArrayBuffer.isView(data) ? data : ELEMENTS[type]?.(data);
  if (!view) throw failure('data', `of type '${type}' is no array that can be sent`, '', `input '${name}'`);
  return { type, dims: [...dims], data: new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice() };
}

// A tensor of onnxruntime-web has accessors, which messages lose.
const sentSample = (sample: SampleLike): Sample =>
  Object.fromEntries(Object.entries(sample).map(([name, tensor]) => [name, sentTensor(name, tensor)]));

async function* sentSamples(samples: Iterable<SampleLike> | AsyncIterable<SampleLike>): AsyncGenerator<Sample> {
  for await (const sample of samples) yield sentSample(sample);
}

type Handed = Iterable<SampleLike> | AsyncIterable<SampleLike>;

function handed(source: SampleSource): source is Handed {
  return typeof source === 'object' && source !== null && (Symbol.iterator in source || Symbol.asyncIterator in source);
}

function sentPlain(source: Exclude<SampleSource, Handed>): SentSource {
  if (typeof source === 'object' && source !== null && ('files' in source || 'synthetic' in source)) return source;
  throw failure('usage', 'are neither files nor tensors to iterate over', '', 'samples');
}

/** For a worker that asks for one sample after the other. */
export function sentStream(source: SampleSource): { samples: SentSource; stream?: AsyncIterator<Sample> } {
  if (!handed(source)) return { samples: sentPlain(source) };
  const { length, size } = source as { length?: number; size?: number };
  return { samples: { stream: { total: length ?? size ?? null } }, stream: sentSamples(source) };
}

/** For workers that take the first few. */
export async function sentList(source: SampleSource, most: number): Promise<SentSource> {
  if (!handed(source)) return sentPlain(source);
  const samples: Sample[] = [];
  for await (const sample of sentSamples(source)) {
    samples.push(sample);
    if (samples.length === most) break;
  }
  if (samples.length === 0) throw failure('data', 'there are none', '', 'samples');
  return { samples };
}
