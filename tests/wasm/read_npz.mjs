// Samples of the embedded models: .npz files, zips of one .npy per input.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { ROOT } from './load_octet.mjs';

const TYPES = { '<f4': 'float32', '<i8': 'int64' };

function readNpy(bytes) {
  const start = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, start);
  const type = TYPES[/'descr': '([^']+)'/.exec(header)[1]];
  const dims = /'shape': \(([^)]*)\)/.exec(header)[1].split(',').filter((part) => part.trim()).map(Number);
  return { type, dims, data: new Uint8Array(bytes.subarray(start)) };
}

/** What is in the zip, by the names of its entries. */
export function entriesOf(path) {
  const bytes = readFileSync(path), entries = {};
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  let at = bytes.readUInt32LE(end + 16);
  for (let i = 0; i < bytes.readUInt16LE(end + 10); ++i) {
    const [method, packed] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)];
    const [name, extra, comment] = [28, 30, 32].map((place) => bytes.readUInt16LE(at + place));
    const local = bytes.readUInt32LE(at + 42);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const data = bytes.subarray(start, start + packed);
    entries[bytes.toString('utf8', at + 46, at + 46 + name)] = method === 8 ? inflateRawSync(data) : data;
    at += 46 + name + extra + comment;
  }
  return entries;
}

export function readNpz(path) {
  const arrays = Object.entries(entriesOf(path));
  return Object.fromEntries(arrays.map(([name, bytes]) => [name.replace(/\.npy$/, ''), readNpy(bytes)]));
}

// part: 'calib' or 'eval'.
export function samplesOf(model, part) {
  const folder = join(ROOT, 'tests/data', model, part);
  return readdirSync(folder).filter((name) => name.endsWith('.npz')).sort().map((name) => readNpz(join(folder, name)));
}
