// Outputs in the origin private file system, as the page sees them: a folder for each Octet, and in it one for each
// output. A folder whose page is gone, which its lock tells, is removed by the next page that comes.
import type { ModelFiles } from './types.js';

const FOLDER = 'octet-outputs';
/** Copies of large inputs, which the worker that made one holds open. */
export const INPUTS = 'octet-inputs';
/** Outputs above this go to disk where nothing else is asked for. */
export const LARGE = 64e6;

/** Where an output goes, once it turns out to be larger than `above` bytes. */
export interface Place {
  owner: string;
  id: string;
  above: number;
}

const lockOf = (owner: string) => `octet outputs ${owner}`;

// crypto.randomUUID() is for secure pages alone, and so is the file system.
const newId = () => crypto.randomUUID();

export const hasDisk = () =>
  typeof navigator !== 'undefined' && !!navigator.locks && typeof navigator.storage?.getDirectory === 'function';

/** The folder of an owner. */
export async function folderOf(owner: string, create = false): Promise<FileSystemDirectoryHandle> {
  const root = await navigator.storage.getDirectory();
  return (await root.getDirectoryHandle(FOLDER, { create })).getDirectoryHandle(owner, { create });
}

// Resolves when the lock is held, which it is until the page goes.
function hold(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    navigator.locks.request(name, () => (resolve(), new Promise(() => {}))).catch(reject);
  });
}

async function namesIn(folder: FileSystemDirectoryHandle): Promise<string[]> {
  const names: string[] = [];
  for await (const name of folder.keys()) names.push(name);
  return names;
}

/** Copies whose worker is gone. */
export async function removeAbandonedInputs() {
  const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle(INPUTS);
  // What is open is locked, and stays.
  for (const name of await namesIn(folder)) await folder.removeEntry(name).catch(() => {});
}

async function removeAbandonedOutputs() {
  const root = await navigator.storage.getDirectory();
  const folder = await root.getDirectoryHandle(FOLDER);
  const { held = [], pending = [] } = await navigator.locks.query();
  const names = new Set([...held, ...pending].map(({ name }) => name));
  for (const owner of await namesIn(folder)) {
    if (!names.has(lockOf(owner))) await folder.removeEntry(owner, { recursive: true }).catch(() => {});
  }
}

const PATIENCE_MS = [0, 50, 100, 200, 400, 800, 1600];

async function remove({ owner, id }: Place) {
  for (const wait of PATIENCE_MS) {
    // A worker that was just ended holds its files for a moment.
    await new Promise((resolve) => setTimeout(resolve, wait));
    try {
      return await (await folderOf(owner)).removeEntry(id, { recursive: true });
    } catch (error) {
      if (error instanceof DOMException && error.name === 'NotFoundError') return;
    }
  }
}

const placeOf = new WeakMap<Blob, Place>();

export class Disk {
  #owner: Promise<string> | undefined;
  #cleaned = false;

  /** Removes what pages left behind that are gone. */
  clean() {
    if (this.#cleaned || !hasDisk()) return;
    this.#cleaned = true;
    for (const remove of [removeAbandonedInputs, removeAbandonedOutputs]) remove().catch(() => {}); // there are none
  }

  /** Does `work` with a place of its own, which is removed again if the work fails. */
  async keep<T extends { output: ModelFiles }>(above: number, work: (place: Place) => Promise<T>): Promise<T> {
    const place = { owner: await this.#own(), id: newId(), above };
    try {
      const result = await work(place);
      placeOf.set(result.output.model, place);
      return result;
    } catch (error) {
      void remove(place);
      throw error;
    }
  }

  #own(): Promise<string> {
    return (this.#owner ??= (async () => {
      const owner = newId();
      await hold(lockOf(owner));
      return owner;
    })());
  }
}

/** Removes an output from disk; one in memory goes by itself. Its blobs cannot be read any more. */
export async function discard({ model }: ModelFiles): Promise<void> {
  const place = placeOf.get(model);
  placeOf.delete(model);
  if (place) await remove(place);
}
