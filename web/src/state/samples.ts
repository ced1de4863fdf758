// What the models run on: samples to learn ranges from, and samples to check outputs and time on.
import { computed, signal } from '@preact/signals';
import type { SampleFile, SampleSource } from 'octet-wasm';
import { plural } from '../format';
import { imageOptions } from '../options';
import type { Choices } from '../options';

/** `from`: the model that the files came with, where it was one that comes with the page. */
export type ReadableSet = { kind: 'files'; files: SampleFile[]; from?: string } | { kind: 'made up'; count: number };

/** 'served': a folder that `octet serve` reads, and this page does not. */
export type SampleSet = ReadableSet | { kind: 'served'; folder: string };

export type Purpose = 'calibration' | 'evaluation';

export const calibration = signal<SampleSet | null>(null);
export const evaluation = signal<SampleSet | null>(null);

export const setOf = (purpose: Purpose) => (purpose === 'calibration' ? calibration : evaluation);

/** What outputs are checked on: samples to calibrate with serve where there are no others. */
export const checkedOn = computed<ReadableSet>(() => {
  const readable = [evaluation.value, calibration.value].filter((set) => set !== null && set.kind !== 'served');
  const real = readable.find(({ kind }) => kind === 'files');
  return readable.find((set) => set === evaluation.value) ?? real ?? { kind: 'made up', count: 2 };
});

const PICTURE = /\.(png|jpe?g|bmp)$/i;

export const hasPictures = (set: SampleSet | null) =>
  set?.kind === 'files' && set.files.some(({ name }) => PICTURE.test(name));

export const isReal = (set: SampleSet | null) => set?.kind === 'files';

export function describe(set: SampleSet): string {
  if (set.kind === 'served') return `the folder ${set.folder} of octet serve`;
  return set.kind === 'files' ? plural(set.files.length, 'file') : plural(set.count, 'made-up input');
}

/** As the package takes it. */
export function sourceOf(set: ReadableSet, choices: Choices, purpose: Purpose): SampleSource {
  if (set.kind === 'made up') return { synthetic: { count: set.count } };
  const { limit, shuffle } = choices;
  const taken = purpose === 'calibration' ? { ...(limit > 0 && { limit }), ...(shuffle >= 0 && { shuffle }) } : {};
  return { files: set.files, ...taken, ...(hasPictures(set) && { image: imageOptions(choices) }) };
}

/** Samples that came with a model, or by themselves: where folders do not tell, to `purpose`. */
export function takeSamples(files: SampleFile[], purpose: Purpose) {
  const calib = files.filter(({ name }) => /(^|\/)(calib|train)[^/]*\//i.test(name));
  const evals = files.filter(({ name }) => /(^|\/)(eval|valid|test(?!_data_set))[^/]*\//i.test(name));
  if (calib.length > 0 && evals.length > 0) {
    calibration.value = { kind: 'files', files: calib };
    evaluation.value = { kind: 'files', files: evals };
  } else if (files.length > 0) {
    setOf(purpose).value = { kind: 'files', files };
  }
}

export function forgetSamples() {
  calibration.value = evaluation.value = null;
}
