// Samples from .npz files: a zip of .npy files, one array per input of the model.
import { unzipSync } from 'fflate';
import type { Sample, TensorValue } from '../octet.js';
import { failure } from './error.js';

const TYPES: Record<string, string> = {
  '<f4': 'float32', '<f8': 'float64', '<f2': 'float16', '<i8': 'int64', '<i4': 'int32', '<i2': 'int16', '|i1': 'int8',
  '<u8': 'uint64', '<u4': 'uint32', '<u2': 'uint16', '|u1': 'uint8', '|b1': 'bool',
};

export async function readNpz(blob: Blob): Promise<Sample> {
  let entries: Record<string, Uint8Array>;
  try {
    entries = unzipSync(new Uint8Array(await blob.arrayBuffer()));
  } catch {
    throw failure('data', 'the samples are no .npz file', 'write them with numpy.savez');
  }
  const sample: Sample = {};
  for (const [name, bytes] of Object.entries(entries)) sample[name.replace(/\.npy$/, '')] = readNpy(name, bytes);
  return sample;
}

// Magic, version, length of the header, the header (a Python literal), the data.
function readNpy(name: string, bytes: Uint8Array): TensorValue {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wide = bytes[6]! > 1;
  const length = bytes.length < 12 || bytes[0] !== 0x93 ? 0 : wide ? view.getUint32(8, true) : view.getUint16(8, true);
  const start = (wide ? 12 : 10) + length;
  const header = new TextDecoder('latin1').decode(bytes.subarray(wide ? 12 : 10, start));
  const type = TYPES[/'descr':\s*'([^']+)'/.exec(header)?.[1] ?? ''];
  const shape = /'shape':\s*\(([^)]*)\)/.exec(header)?.[1];
  if (!type || shape === undefined || /'fortran_order':\s*True/.test(header)) {
    throw failure('data', 'is no array that can be a sample', 'save it as C-ordered numbers', name);
  }
  const dims = shape.split(',').filter((part) => part.trim()).map(Number);
  return { type, dims, data: bytes.slice(start) };
}
