// Large inputs as files of the page's own. FileReaderSync leaves a buffer behind with every read, and inside a long call
// of the core nothing collects them: they would add up to several times the model. A file of the origin private file
// system is read into one buffer, again and again.
import type { ByteReader } from '../octet.js';
import { INPUTS, removeAbandonedInputs } from './disk.js';

const LARGE = 512e6;

interface Copy {
  name: string;
  access: FileSystemSyncAccessHandle;
  size: number;
}

const copies = new Map<string, Copy>();
const keyOf = (blob: Blob) => (blob instanceof File ? `${blob.name} ${blob.size} ${blob.lastModified}` : '');

async function folder(): Promise<FileSystemDirectoryHandle> {
  return (await navigator.storage.getDirectory()).getDirectoryHandle(INPUTS, { create: true });
}

async function forget(key: string, { name, access }: Copy, from: FileSystemDirectoryHandle) {
  copies.delete(key);
  access.close();
  await from.removeEntry(name).catch(() => {});
}

async function make(blob: Blob, to: FileSystemDirectoryHandle): Promise<Copy> {
  const name = crypto.randomUUID();
  const access = await (await to.getFileHandle(name, { create: true })).createSyncAccessHandle();
  const copy = { name, access, size: blob.size };
  try {
    const stream = blob.stream().getReader();
    let at = 0;
    for (let part = await stream.read(); !part.done; part = await stream.read()) at += access.write(part.value, { at });
    if (at !== blob.size) throw new Error('not all of it could be written');
    return copy;
  } catch (error) {
    await forget('', copy, to);
    throw error;
  }
}

/** Copies what is large among these, once; drops copies of other files. Where there is no room, or no such file system,
 * files are read where they are. */
export async function copyLarge(blobs: Blob[]): Promise<void> {
  const wanted = new Map(blobs.filter(({ size }) => size > LARGE).map((blob) => [keyOf(blob), blob]));
  wanted.delete('');
  if (wanted.size === 0 && copies.size === 0) return;
  try {
    const here = await folder();
    for (const [key, copy] of copies) if (!wanted.has(key)) await forget(key, copy, here);
    const missing = [...wanted].filter(([key]) => !copies.has(key));
    if (missing.length > 0) await removeAbandonedInputs(); // of a worker that was ended before this one
    for (const [key, blob] of missing) copies.set(key, await make(blob, here));
  } catch {
    // Read where they are, at the price of memory.
  }
}

// One for all: the module copies what it is given before it asks for more.
let buffer = new Uint8Array(0);

class CopyReader implements ByteReader {
  constructor(private readonly access: FileSystemSyncAccessHandle, readonly size: number) {}

  read(offset: number, length: number): Uint8Array | null {
    if (buffer.length < length) buffer = new Uint8Array(length);
    const bytes = buffer.subarray(0, length);
    return this.access.read(bytes, { at: offset }) === length ? bytes : null;
  }
}

/** Reads the copy of a file, where there is one. */
export function copyReader(blob: Blob): ByteReader | null {
  const copy = copies.get(keyOf(blob));
  return copy ? new CopyReader(copy.access, copy.size) : null;
}
