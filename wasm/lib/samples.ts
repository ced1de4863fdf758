// Where samples come from, as the worker sees it: files, tensors that the caller hands over, or made-up inputs.
import { unzipSync } from 'fflate';
import type { OctetModule, PictureInput, ReadSample, Sample, SampleFiles } from '../octet.js';
import { checked, failure, OctetError } from './error.js';
import type { SentSource } from './protocol.js';
import { openable } from './readers.js';
import type { FileSamples, ModelFiles, SampleFile, Synthetic } from './types.js';

export interface Opened {
  /** To be iterated over once. */
  named: AsyncGenerator<ReadSample>;
  /** Null where only the end will tell. */
  count: number | null;
  description: string;
  synthetic: boolean;
  picture: boolean;
  /** Of a model that takes pictures. */
  image: PictureInput | null;
}

/** Asks the page for the next sample of a stream. */
export type Pull = () => Promise<Sample | null>;

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
const titled = (sample: Sample, i: number): ReadSample => ({ name: `sample ${i + 1}`, place: i, sample });

async function* each(samples: Sample[]): AsyncGenerator<ReadSample> {
  for (const [i, sample] of samples.entries()) yield titled(sample, i);
}

async function* pulled(pull: Pull): AsyncGenerator<ReadSample> {
  let count = 0;
  for (let sample; (sample = await pull());) yield titled(sample, count++);
}

function entriesOf(name: string, archive: Uint8Array): Record<string, Uint8Array> {
  try {
    return unzipSync(archive);
  } catch {
    throw failure('data', 'is no .npz file', 'write it with numpy.savez', name);
  }
}

async function* fromFiles(samples: SampleFiles, files: SampleFile[]): AsyncGenerator<ReadSample> {
  for (let i = 0, count = samples.count(); i < count; ++i) {
    const { name, files: places, archive } = checked(samples.files(i));
    const contents: Uint8Array[] = [];
    for (const place of places) contents.push(new Uint8Array(await files[place]!.blob.arrayBuffer()));
    yield checked(samples.read(i, archive ? entriesOf(name, contents[0]!) : contents));
  }
}

// Gives back what the module holds, however the reading ends.
async function* thenDeleted(samples: SampleFiles, files: SampleFile[]): AsyncGenerator<ReadSample> {
  try {
    yield* fromFiles(samples, files);
  } finally {
    samples.delete();
  }
}

function openFiles(octet: OctetModule, model: ModelFiles, source: FileSamples, most: number): Opened {
  const { files, image: picture_options, shuffle, limit = most } = source;
  const options = { image: picture_options, shuffle, limit: limit === Infinity ? undefined : limit };
  const request = { ...openable(model), files: files.map(({ name }) => name), options };
  const { samples } = checked(octet.open_samples(request));
  const { count, description, picture, image } = samples.describe();
  return { named: thenDeleted(samples, files), count, description, synthetic: false, picture, image };
}

/** What the source gives; `most` where it says no limit itself. Made-up inputs are not among it: firstThatRuns(). */
export function openSamples(
  octet: OctetModule, model: ModelFiles, source: Exclude<SentSource, { synthetic: unknown }>, pull: Pull,
  most = Infinity,
): Opened {
  if ('files' in source) return openFiles(octet, model, source, most);
  const given = { synthetic: false, picture: false, image: null };
  if ('stream' in source) {
    return { ...given, named: pulled(pull), count: source.stream.total, description: 'samples as given' };
  }
  const samples = source.samples.slice(0, most), count = samples.length;
  return { ...given, named: each(samples), count, description: counted(count, 'sample') };
}

/** A source that can be opened again: files, lists, or made-up inputs. */
export function openKnown(
  octet: OctetModule, model: ModelFiles, source: SentSource, most?: number,
): Pick<Opened, 'named' | 'count'> {
  if (!('synthetic' in source)) return openSamples(octet, model, source, async () => null, most);
  const { list } = makeUp(octet, model, source.synthetic);
  return { named: each(list), count: list.length };
}

/** The samples alone. */
export async function* plain({ named }: Pick<Opened, 'named'>): AsyncGenerator<Sample> {
  for await (const { sample } of named) yield sample;
}

export async function listOf(opened: Opened, most = Infinity): Promise<Sample[]> {
  const list: Sample[] = [];
  for await (const sample of plain(opened)) {
    if (list.push(sample) >= most) break;
  }
  return list;
}

export interface MadeUp {
  list: Sample[];
  description: string;
  sizes: number[];
}

export function makeUp(
  octet: OctetModule, model: ModelFiles, synthetic: Synthetic, free_size?: number,
): MadeUp {
  const made = checked(octet.make_samples({ ...openable(model), ...synthetic, free_size }));
  return { list: made.samples, description: made.description, sizes: made.sizes_to_try };
}

/** Made-up inputs, one set after the other until one runs: many models accept few sizes. */
export async function firstThatRuns<T>(
  octet: OctetModule, model: ModelFiles, synthetic: Synthetic, use: (made: MadeUp) => Promise<T>,
): Promise<T> {
  let sizes: (number | undefined)[] = [undefined], complaint: OctetError | null = null;
  for (let i = 0; i < sizes.length; ++i) {
    const made = makeUp(octet, model, synthetic, sizes[i]);
    if (i === 0) sizes = [undefined, ...made.sizes];
    try {
      return await use(made);
    } catch (error) {
      if (!(error instanceof OctetError) || error.error.code !== 'run') throw error;
      complaint ??= error;
    }
  }
  const problem = `no made-up input runs; the first attempt: ${complaint!.error.problem}`;
  throw failure('run', problem, 'give samples', model.name);
}
