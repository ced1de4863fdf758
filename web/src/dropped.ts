// What people drop, choose or paste: which of it is a model, which are samples, which belong to the model.
import type { SampleFile } from 'octet-wasm';

/** `path` has the folders that were dropped, with '/' between. */
export interface Given {
  path: string;
  file: File;
}

export const asGiven = (files: Iterable<File>): Given[] =>
  [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

const SAMPLE = /\.(npz|npy|pb|png|jpe?g|bmp|raw|bin)$/i;

/** Right answers for the samples beside it. */
export const isLabels = ({ path }: Given) => /(^|\/)labels\.json$/i.test(path);

/** A plan or a report, not right answers. */
export const isJson = (path: string) => /\.json$/i.test(path) && !/(^|\/)labels\.json$/i.test(path);

export const isSample = ({ path }: Given) => SAMPLE.test(path);

export const asSamples = (given: Given[]): SampleFile[] => given.map(({ path, file }) => ({ name: path, blob: file }));

export interface Sorted {
  model: Given | null;
  samples: Given[];
  /** External data, or what it could be. */
  rest: Given[];
}

/** `expected`: whether anything may be the model, since there is none yet. */
export function sorted(given: Given[], expected: boolean): Sorted {
  const named = given.find(({ path }) => /\.onnx$/i.test(path));
  // A lone .pb is a model in the old manner; beside a model it is a sample.
  const alone = expected ? (given.find(({ path }) => /\.pb$/i.test(path)) ?? given.find((one) => !isSample(one) && !isLabels(one))) : null;
  const model = named ?? alone ?? (expected ? given[0] : null) ?? null;
  const others = given.filter((one) => one !== model && !/(^|\/)\./.test(one.path));
  const known = (one: Given) => isSample(one) || isLabels(one);
  return { model, samples: others.filter(known), rest: others.filter((one) => !known(one)) };
}

async function* walk(entry: FileSystemEntry): AsyncGenerator<Given> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    yield { path: entry.fullPath.replace(/^\//, ''), file };
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const one of some) yield* walk(one);
  }
}

/** All files of a drop, those in folders too. To be called while the event is handled: the items are gone later. */
export function filesOf(transfer: DataTransfer): Promise<Given[]> {
  const items = [...transfer.items].filter(({ kind }) => kind === 'file');
  const entries = items.map((item) => item.webkitGetAsEntry?.() ?? null);
  const files = asGiven(transfer.files);
  if (entries.some((entry) => entry === null)) return Promise.resolve(files);
  return (async () => {
    const all: Given[] = [];
    for (const entry of entries) {
      for await (const given of walk(entry!)) all.push(given);
    }
    return all;
  })();
}
