// An output on its way to disk, in the worker: files have a temporary name until they are whole.
import type { ByteWriter, Written } from '../octet.js';
import { folderOf } from './disk.js';
import type { Place } from './disk.js';
import { failure } from './error.js';
import type { ModelFiles } from './types.js';

type Part = 'model' | 'external';

interface Open {
  handle: FileSystemFileHandle & { move?: (name: string) => Promise<void> };
  access: FileSystemSyncAccessHandle;
  used: boolean;
}

const mb = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;

function noRoom(size: number, error: unknown): Error {
  const quota = error instanceof DOMException && error.name === 'QuotaExceededError';
  const problem = quota ? `the browser has no room for ${mb(size)}` : `the output cannot be written: ${error}`;
  return failure('write', problem, "free some, or use store: 'memory' or the command line", 'output');
}

/** Takes what is larger than the place asks for. To be closed in any case. */
export class DiskOutput {
  private constructor(
    private readonly folder: FileSystemDirectoryHandle, private readonly place: Place,
    private readonly files: Record<Part, Open>,
  ) {}

  static async open(place: Place): Promise<DiskOutput> {
    try {
      const owner = await folderOf(place.owner, true);
      const folder = await owner.getDirectoryHandle(place.id, { create: true });
      const open = async (part: Part): Promise<Open> => {
        const handle = await folder.getFileHandle(`${part}.part`, { create: true });
        return { handle, access: await handle.createSyncAccessHandle(), used: false };
      };
      return new DiskOutput(folder, place, { model: await open('model'), external: await open('external') });
    } catch (error) {
      throw failure('write', `this browser keeps no files for the page: ${error}`, "use store: 'memory'", 'output');
    }
  }

  readonly sink = (part: Part, size: number): ByteWriter | null => {
    if (size <= this.place.above) return null;
    const file = this.files[part];
    let at = 0;
    const trying = <T>(step: () => T): T => {
      try {
        return step();
      } catch (error) {
        throw noRoom(size, error);
      }
    };
    trying(() => file.access.truncate(size)); // no room is told before the work, not after it
    file.used = true;
    return {
      write(bytes) {
        const written = trying(() => file.access.write(bytes, { at }));
        if (written !== bytes.byteLength) throw noRoom(size, new DOMException('', 'QuotaExceededError'));
        at += written;
      },
    };
  };

  private async finished(part: Part): Promise<Blob> {
    const { handle, access } = this.files[part];
    access.flush();
    access.close();
    await handle.move?.(part); // not in every browser
    return handle.getFile();
  }

  /** The parts from here or, where they stayed there, from memory. */
  async filesOf(name: string, { model, external, external_name: path }: Written): Promise<ModelFiles> {
    const { files } = this;
    const blob = async (part: Part, bytes?: Uint8Array) =>
      files[part].used ? this.finished(part) : bytes && new Blob([bytes as BlobPart]);
    const [main, other] = [await blob('model', model), await blob('external', external)];
    return { name, model: main!, files: other && path ? { [path]: other } : {} };
  }

  async close() {
    for (const [part, { access, used }] of Object.entries(this.files)) {
      access.close();
      if (!used) await this.folder.removeEntry(`${part}.part`);
    }
    const some = Object.values(this.files).some(({ used }) => used);
    if (!some) await (await folderOf(this.place.owner)).removeEntry(this.place.id);
  }
}
