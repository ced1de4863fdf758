// Samples as .npz archives, one each: the very tensors that the models ran on in the browser.
import { failure } from 'octet-wasm';
import type { Sample } from 'octet-wasm';

// By the names of numpy, which are those of samples.
const DESCR: Record<string, string> = {
  bool: '|b1', int8: '|i1', uint8: '|u1', int16: '<i2', uint16: '<u2', int32: '<i4', uint32: '<u4', int64: '<i8',
  uint64: '<u8', float16: '<f2', float32: '<f4', float64: '<f8',
};

const MAGIC = '\x93NUMPY\x01\x00';
const ALIGNED = 64;

function npy({ type, dims, data }: Sample[string]): Uint8Array {
  const descr = DESCR[type];
  if (descr === undefined) {
    throw failure(
      'data', `inputs of type ${type} cannot be sent to octet serve`,
      'run octet bench on the command line and drop its report',
    );
  }
  const shape = `(${dims.map((dim) => `${dim},`).join(' ')})`;
  const facts = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }`;
  const length = Math.ceil((MAGIC.length + 2 + facts.length + 1) / ALIGNED) * ALIGNED - MAGIC.length - 2;
  const header = `${MAGIC}${String.fromCharCode(length & 255, length >> 8)}${facts.padEnd(length - 1)}\n`;
  const file = new Uint8Array(header.length + data.byteLength);
  for (let i = 0; i < header.length; ++i) file[i] = header.charCodeAt(i);
  file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), header.length);
  return file;
}

export async function npzOf(tensors: Sample): Promise<Blob> {
  const { zipSync } = await import('fflate');
  const files: Record<string, Uint8Array> = {};
  for (const [name, tensor] of Object.entries(tensors)) {
    files[`${name}.npy`] = npy(tensor);
  }
  return new Blob([zipSync(files, { level: 0 }) as BlobPart]);
}
