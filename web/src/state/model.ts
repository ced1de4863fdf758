// The model that is open, and what it is.
import { signal } from '@preact/signals';
import { bytesOf, LARGEST_TO_RUN } from 'octet-wasm';
import type { ModelFiles, Report } from 'octet-wasm';
import { fetchBundled } from '../bundled';
import type { BundledModel } from '../bundled';
import { asSamples, isLabels, isSample, sorted } from '../dropped';
import type { Given } from '../dropped';
import { plural } from '../format';
import { WIDEST } from '../options';
import { octet } from './client';
import { learns, removePlan } from './in_force';
import { announcement, cancel, exclusively, problem } from './job';
import { currentId } from './runs';
import { calibration, evaluation, filesSet, forgetSamples, isReal, takeSamples } from './samples';

export { problem } from './job';

export const loaded = signal<ModelFiles | null>(null);
/** What weights-only storage would do to it: the widest plan, and so the plainest answer to what can be quantized. */
export const inspected = signal<Report | null>(null);

function forget() {
  inspected.value = problem.value = currentId.value = null;
  removePlan();
}

const byName = (given: Given[]) => Object.fromEntries(given.map(({ path, file }) => [path.split('/').pop()!, file]));

// Samples that are dropped anywhere go where they are missing.
const missing = () => (learns.value && !isReal(calibration.value) ? 'calibration' : 'evaluation');

/** Takes what was dropped, chosen or pasted: a model, its external data, samples. */
export async function open(given: Given[]) {
  if (given.length === 0) return;
  const before = loaded.value;
  const unreadable = problem.value !== null && !problem.value.missing && inspected.value === null;
  const { model, samples, rest } = sorted(given, before === null || unreadable);
  if (model) {
    forgetSamples();
    loaded.value = { name: model.file.name, model: model.file, files: byName([...rest, ...samples]) };
    await look(samples);
  } else if (before && (rest.length > 0 || !inspected.value)) {
    loaded.value = { ...before, files: { ...before.files, ...byName(given) } };
    await look(samples);
  } else if (before) {
    give(samples);
  }
}

function give(samples: Given[]) {
  if (samples.length === 0) return;
  takeSamples(asSamples(samples), missing());
  announcement.value = `${plural(samples.length, 'file')} of samples added`;
}

export async function openBundled(bundled: BundledModel) {
  await exclusively(['read'], async (signal) => {
    forget();
    const { model, ...samples } = await fetchBundled(bundled, signal);
    signal.throwIfAborted();
    loaded.value = { name: bundled.file, model, files: {} };
    calibration.value = filesSet(samples.calibration, bundled.file);
    evaluation.value = filesSet(samples.evaluation, bundled.file);
  });
  if (loaded.value?.name === bundled.file) await look([]);
}

export function close() {
  cancel();
  forget();
  loaded.value = null;
  forgetSamples();
  announcement.value = 'Model removed';
}

// What the model does not read of what came with it are samples.
async function look(given: Given[]) {
  const source = loaded.value!;
  await exclusively(['read', 'plan'], async (signal, tell) => {
    forget();
    const { report, files } = await octet.inspect(source, WIDEST, { signal, onProgress: tell });
    const read = new Set(Object.values(files));
    loaded.value = { ...source, files };
    inspected.value = report;
    announcement.value = `${source.name} is loaded`;
    // While its reader looks at it. What is wrong with that is said when something is to run.
    if (bytesOf(source) <= LARGEST_TO_RUN) octet.warmUp().catch(() => {});
    give(given.filter((one) => isLabels(one) || (isSample(one) && !read.has(one.file))));
  });
}
