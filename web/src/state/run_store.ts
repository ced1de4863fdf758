// Runs in the origin private file system: a folder each, with the model's files and run.json, which is written last and
// so stands for a folder that is whole.
import type { ModelFiles } from '../package';
import { alone, dropFolder, hasFile, ownFolder, readFile, writeFile } from './own_files';
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

const folderOfRuns = () => ownFolder(FOLDER);

const externalName = (index: number) => `external_${index}.bin`;

/**
 * The files of a run are written once, its facts whenever they change. Gives the output as it is kept, where it was
 * written just now.
 */
export const keepRun = (run: Run): Promise<ModelFiles | null> =>
  alone(FOLDER, async () => {
    const folder = await (await folderOfRuns()).getDirectoryHandle(run.id, { create: true });
    const { output, ranges, ...facts } = run;
    const files = Object.entries(output.files ?? {});
    const known = await hasFile(folder, FACTS);
    try {
      if (!known) {
        await writeFile(folder, MODEL, output.model);
        for (const [i, [, blob]] of files.entries()) await writeFile(folder, externalName(i), blob);
      }
      if (ranges !== null && !(await hasFile(folder, RANGES))) await writeFile(folder, RANGES, ranges);
      const kept: Kept = {
        ...facts,
        version: VERSION,
        output: { name: output.name, files: files.map(([name]) => name) },
        hasRanges: ranges !== null,
      };
      await writeFile(folder, FACTS, JSON.stringify(kept));
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
  const files: Record<string, Blob> = {};
  for (const [i, external] of names.entries()) files[external] = await readFile(folder, externalName(i));
  return { name, model: await readFile(folder, MODEL), files };
}

export const forgetRun = (id: string): Promise<void> => alone(FOLDER, () => drop(id));

const drop = async (id: string) => dropFolder(await folderOfRuns(), id);

// Null where it is not whole, 'foreign' where another version of the page kept it.
async function readRun(folder: FileSystemDirectoryHandle): Promise<Run | 'foreign' | null> {
  try {
    const { version, output, hasRanges, ...facts } = JSON.parse(await (await readFile(folder, FACTS)).text()) as Kept;
    if (version !== VERSION) return 'foreign';
    const ranges = hasRanges ? await (await readFile(folder, RANGES)).text() : null;
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
  alone(FOLDER, async () => {
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
