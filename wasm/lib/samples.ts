// Where samples come from, as the worker sees it: files, tensors that the caller hands over, or made-up inputs.
import type { OctetModule, Sample } from '../octet.js';
import { checked, failure, OctetError } from './error.js';
import { readNpz } from './npz.js';
import type { SentSource } from './protocol.js';
import { openable } from './readers.js';
import type { ModelFiles, Synthetic } from './types.js';

export interface Opened {
  samples: AsyncIterable<Sample>;
  /** Null where only the end will tell. */
  count: number | null;
  description: string;
  synthetic: boolean;
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

async function* each<T>(values: Iterable<T>, read: (value: T) => Sample | Promise<Sample>): AsyncGenerator<Sample> {
  for (const value of values) yield await read(value);
}

export type Pull = () => Promise<Sample | null>;

async function* pulled(pull: Pull): AsyncGenerator<Sample> {
  for (let sample; (sample = await pull());) yield sample;
}

/** What the source gives; `most` where it says no limit itself. Made-up inputs are not among it, see attempts(). */
export function openSamples(source: Exclude<SentSource, { synthetic: unknown }>, pull: Pull, most = Infinity): Opened {
  if ('stream' in source) {
    return { samples: pulled(pull), count: source.stream.total, description: 'samples as given', synthetic: false };
  }
  if ('samples' in source) {
    const samples = source.samples.slice(0, most), description = counted(samples.length, 'sample');
    return { samples: each(samples, (sample) => sample), count: samples.length, description, synthetic: false };
  }
  const files = source.files.filter(({ name }) => /\.npz$/i.test(name));
  if (files.length === 0) throw failure('data', 'there is no sample among the files', 'give .npz files', 'samples');
  files.sort((a, b) => (a.name < b.name ? -1 : 1));
  const taken = files.slice(0, source.limit ?? most);
  const description = taken.length === 1 ? 'a file of real samples' : `${taken.length} files of real samples`;
  return { samples: each(taken, ({ blob }) => readNpz(blob)), count: taken.length, description, synthetic: false };
}

/** Made-up inputs, one set after the other until one runs: many models accept few sizes. */
export async function firstThatRuns<T>(
  octet: OctetModule, model: ModelFiles, { count, seed }: Synthetic,
  use: (opened: Opened & { list: Sample[] }) => Promise<T>,
): Promise<T> {
  let sizes: (number | undefined)[] = [undefined], complaint: OctetError | null = null;
  for (let i = 0; i < sizes.length; ++i) {
    const free_size = sizes[i];
    const asked = { ...(count && { count }), ...(seed !== undefined && { seed }), ...(free_size && { free_size }) };
    const made = checked(octet.make_samples({ ...openable(model), ...asked }));
    if (i === 0) sizes = [undefined, ...made.sizes_to_try];
    const { samples: list, description } = made;
    try {
      return await use({ samples: each(list, (x) => x), list, count: list.length, description, synthetic: true });
    } catch (error) {
      if (!(error instanceof OctetError) || error.error.code !== 'run') throw error;
      complaint ??= error;
    }
  }
  const problem = `no made-up input runs; the first attempt: ${complaint!.error.problem}`;
  throw failure('run', problem, 'give samples', model.name);
}
