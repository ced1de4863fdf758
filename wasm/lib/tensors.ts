// Tensors between the core and the runtime, and the runtime's complaints.
import type { ErrorCode, TensorValue } from '../octet.js';
import { failure, OctetError, outOfMemory, wantsMemory } from './error.js';

export const ARRAYS = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, bool: Uint8Array, int8: Int8Array,
  uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array,
  int64: BigInt64Array, uint64: BigUint64Array,
} as const;

type Known = keyof typeof ARRAYS;

export interface HasTensors {
  readonly Tensor: new (type: never, data: never, dims?: readonly number[]) => object;
}

export function toTensor(ort: HasTensors, name: string, { type, dims, data }: TensorValue): object {
  if (!(type in ARRAYS)) {
    throw failure('unsupported', `is ${type}, which the runtime has no tensors for`, '', `input '${name}'`);
  }
  const buffer = data.slice().buffer;
  return new ort.Tensor(type as never, new ARRAYS[type as Known](buffer) as never, dims);
}

// The runtime's own words, without the places of its sources.
function complaint(error: unknown): string {
  // It throws the address of an exception where it cannot say more.
  if (typeof error === 'number') return 'the runtime stopped, most likely for want of memory';
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n')[0]!.replace(/\/\S+\.(cc|h):\d+ (\S+ )?/g, '').slice(0, 400);
}

/** What was thrown as an error in words; one that is in words already stays. */
export function asFailure(code: ErrorCode, problem: string, error: unknown, where: string): OctetError {
  if (error instanceof OctetError) return error;
  if (wantsMemory(error)) return outOfMemory(where);
  return failure(code, `${problem}: ${complaint(error)}`, '', where);
}
