// What the models run on: samples to learn ranges from, and samples to check outputs and time on.
import { computed, signal } from '@preact/signals';
import type { SampleFile, SampleSource } from 'octet-wasm';
import { plural } from '../format';
import { imageOptions, syntheticOf } from '../options';
import type { Choices } from '../options';

/**
 * `from`: the model that the files came with, where it was one that comes with the page. `labels`: the labels.json that
 * lay with them.
 */
export type ReadableSet =
  | { kind: 'files'; files: SampleFile[]; from?: string; labels?: Blob }
  | { kind: 'made up'; count: number };

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

/** Right answers for the samples that outputs are checked on. */
export const labelsOf = (set: SampleSet | null) => (set?.kind === 'files' ? (set.labels ?? null) : null);

export const isReal = (set: SampleSet | null) => set?.kind === 'files';

export function describe(set: SampleSet): string {
  if (set.kind === 'served') return `the folder ${set.folder} of octet serve`;
  return set.kind === 'files' ? plural(set.files.length, 'file') : plural(set.count, 'made-up input');
}

/** As the package takes it. */
export function sourceOf(set: ReadableSet, choices: Choices, purpose: Purpose): SampleSource {
  if (set.kind === 'made up') return { synthetic: { count: set.count, ...syntheticOf(choices) } };
  const { limit, shuffle } = choices;
  const taken = purpose === 'calibration' ? { ...(limit > 0 && { limit }), ...(shuffle >= 0 && { shuffle }) } : {};
  return { files: set.files, ...taken, ...(hasPictures(set) && { image: imageOptions(choices) }) };
}

const isLabels = ({ name }: SampleFile) => /(^|\/)labels\.json$/i.test(name);

export function filesSet(given: SampleFile[], from?: string): ReadableSet {
  const files = given.filter((file) => !isLabels(file)), labels = given.find(isLabels)?.blob;
  return { kind: 'files', files, ...(from !== undefined && { from }), ...(labels && { labels }) };
}

/**
 * Samples that came with a model, or by themselves, and labels.json among them: where folders do not tell, to `purpose`.
 * Labels alone go to the samples that are there.
 */
export function takeSamples(files: SampleFile[], purpose: Purpose) {
  const calib = files.filter(({ name }) => /(^|\/)(calib|train)[^/]*\//i.test(name));
  const evals = files.filter(({ name }) => /(^|\/)(eval|valid|test(?!_data_set))[^/]*\//i.test(name));
  const before = setOf(purpose).value;
  if (calib.length > 0 && evals.length > 0) {
    calibration.value = filesSet(calib);
    evaluation.value = filesSet(evals);
  } else if (files.length > 0 && files.every(isLabels)) {
    if (before?.kind === 'files') setOf(purpose).value = { ...before, labels: files[0]!.blob };
  } else if (files.length > 0) {
    setOf(purpose).value = filesSet(files);
  }
}

export function forgetSamples() {
  calibration.value = evaluation.value = null;
}
