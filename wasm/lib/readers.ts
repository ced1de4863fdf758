// Blobs as the core reads them: synchronously, a piece at a time, so that a model is never in memory as a whole.
import type { ByteReader } from '../octet.js';
import { copyReader } from './local_copy.js';
import type { ModelFiles } from './types.js';

export class BlobReader implements ByteReader {
  readonly size: number;
  #reader = new FileReaderSync();

  constructor(readonly blob: Blob) {
    this.size = blob.size;
  }

  read(offset: number, length: number): Uint8Array | null {
    try {
      return new Uint8Array(this.#reader.readAsArrayBuffer(this.blob.slice(offset, offset + length)));
    } catch {
      return null; // the file moved or changed since it was chosen
    }
  }
}

// A model's external data is named by a path; what people drop are files.
export function findFile(files: Record<string, Blob>, location: string): Blob | null {
  const base = location.split('/').pop()!;
  for (const name of [location, base]) {
    if (Object.hasOwn(files, name)) return files[name]!;
  }
  return null;
}

const readerOf = (blob: Blob): ByteReader => copyReader(blob) ?? new BlobReader(blob);

/** The parts of a request that say what to read; `asked` learns each external file, null where it is missing. */
export function openable(source: ModelFiles, asked?: (location: string, file: Blob | null) => void) {
  return {
    name: source.name,
    model: readerOf(source.model),
    open(location: string) {
      const file = findFile(source.files ?? {}, location);
      asked?.(location, file);
      return file && readerOf(file);
    },
  };
}

/** Bytes above which a model does not fit the runtime's 32-bit memory beside its own copy. */
export const LARGEST_TO_RUN = 1.5e9;

/** Bytes of a model, with its external data. */
export const bytesOf = ({ model, files = {} }: ModelFiles) =>
  Object.values(files).reduce((sum, file) => sum + file.size, model.size);
