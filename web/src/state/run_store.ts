// Runs in the origin private file system: a folder each, with the model's files and run.json, which is written last and
// so stands for a folder that is whole.
import type { ModelFiles } from '../package';
import type { Run } from './runs';

const FOLDER = 'runs';
const FACTS = 'run.json';
const RANGES = 'ranges.json';
const MODEL = 'model.onnx';
// Of the layout below; a folder of another is no run of this page.
const VERSION = 1;

interface Kept extends Omit<Run, 'output' | 'ranges'> {
  version: number;
  output: { name: string; files: string[] };
  hasRanges: boolean;
}

async function folderOfRuns(): Promise<FileSystemDirectoryHandle> {
  const root = await navigator.storage.getDirectory();
  return root.getDirectoryHandle(FOLDER, { create: true });
}

async function write(folder: FileSystemDirectoryHandle, name: string, content: Blob | string) {
  const file = await folder.getFileHandle(name, { create: true });
  const sink = await file.createWritable();
  try {
    // Streamed: a model can be larger than memory.
    if (typeof content === 'string') await sink.write(content);
    else await content.stream().pipeTo(sink, { preventClose: true });
    await sink.close();
  } catch (error) {
    await sink.abort().catch(() => {});
    throw error;
  }
}

async function has(folder: FileSystemDirectoryHandle, name: string): Promise<boolean> {
  try {
    await folder.getFileHandle(name);
    return true;
  } catch {
    return false;
  }
}

// Two tabs of the page share the folder: what one is still writing is no remnant to the other.
const alone = <T>(step: () => Promise<T>): Promise<T> =>
  'locks' in navigator ? (navigator.locks.request('octet-runs', step) as Promise<T>) : step();

const externalName = (index: number) => `external_${index}.bin`;

/**
 * The files of a run are written once, its facts whenever they change. Gives the output as it is kept, where it was
 * written just now.
 */
export const keepRun = (run: Run): Promise<ModelFiles | null> =>
  alone(async () => {
    const folder = await (await folderOfRuns()).getDirectoryHandle(run.id, { create: true });
    const { output, ranges, ...facts } = run;
    const files = Object.entries(output.files ?? {});
    const known = await has(folder, FACTS);
    try {
      if (!known) {
        await write(folder, MODEL, output.model);
        for (const [i, [, blob]] of files.entries()) await write(folder, externalName(i), blob);
      }
      if (ranges !== null && !(await has(folder, RANGES))) await write(folder, RANGES, ranges);
      const kept: Kept = {
        ...facts,
        version: VERSION,
        output: { name: output.name, files: files.map(([name]) => name) },
        hasRanges: ranges !== null,
      };
      await write(folder, FACTS, JSON.stringify(kept));
      return known ? null : await outputIn(folder, kept.output);
    } catch (error) {
      // Half a run takes room and gives nothing.
      if (!known) await drop(run.id);
      throw error;
    }
  });

async function outputIn(
  folder: FileSystemDirectoryHandle,
  { name, files: names }: Kept['output'],
): Promise<ModelFiles> {
  const file = async (path: string) => (await folder.getFileHandle(path)).getFile();
  const files: Record<string, Blob> = {};
  for (const [i, external] of names.entries()) files[external] = await file(externalName(i));
  return { name, model: await file(MODEL), files };
}

export const forgetRun = (id: string): Promise<void> => alone(() => drop(id));

async function drop(id: string): Promise<void> {
  const folder = await folderOfRuns();
  try {
    await folder.removeEntry(id, { recursive: true });
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'NotFoundError')) throw error;
  }
}

// Null where it is not whole, 'foreign' where another version of the page kept it.
async function readRun(folder: FileSystemDirectoryHandle): Promise<Run | 'foreign' | null> {
  const file = async (name: string) => (await folder.getFileHandle(name)).getFile();
  try {
    const { version, output, hasRanges, ...facts } = JSON.parse(await (await file(FACTS)).text()) as Kept;
    if (version !== VERSION) return 'foreign';
    const ranges = hasRanges ? await (await file(RANGES)).text() : null;
    // Whoever was to measure it is gone.
    const notVerified = facts.comparison ? null : (facts.notVerified ?? 'the page was closed before it was measured');
    // Runs from before there were native figures have none.
    const native = facts.native ?? null;
    return { ...facts, notVerified, native, ranges, output: await outputIn(folder, output) };
  } catch {
    return null;
  }
}

/** Every run that is whole; what is not, an interrupted write left behind, and goes. */
export const keptRuns = (): Promise<Run[]> =>
  alone(async () => {
    const folder = await folderOfRuns();
    const found: Run[] = [];
    const broken: string[] = [];
    for await (const handle of folder.values()) {
      const run = handle.kind === 'directory' ? await readRun(handle as FileSystemDirectoryHandle) : null;
      if (run === null) broken.push(handle.name);
      else if (run !== 'foreign') found.push(run);
    }
    for (const name of broken) await folder.removeEntry(name, { recursive: true });
    return found;
  });
