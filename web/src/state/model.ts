// The model that is open, and what it is.
import { signal } from '@preact/signals';
import type { Report } from 'octet-core';
import { toOptions } from '../options';
import { fetchBlob } from '../samples';
import type { BundledSample } from '../samples';
import type { ModelFiles } from '../package';
import { choices } from './choices';
import { octet } from './client';
import { announcement, cancel, exclusively, problem } from './job';
import { currentId } from './runs';
import { evaluation } from './samples';

export { problem } from './job';

export const loaded = signal<ModelFiles | null>(null);
export const inspected = signal<Report | null>(null);

function forget() {
  inspected.value = problem.value = currentId.value = null;
}

/** Takes what was dropped or chosen: a model, its external data, samples. Without a model they join the one there. */
export async function open(files: File[]) {
  const samples = files.filter(({ name }) => name.endsWith('.npz'));
  const models = files.filter(({ name }) => /\.(onnx|pb)$/i.test(name));
  const model = models[0] ?? (loaded.value ? undefined : files.find((file) => !samples.includes(file)));
  const rest = files.filter((file) => file !== model && !samples.includes(file));
  const others = Object.fromEntries(rest.map((file) => [file.name, file]));
  const before = loaded.value;
  if (model) {
    loaded.value = { name: model.name, model, files: others };
    evaluation.value = samples;
  } else if (before) {
    loaded.value = { ...before, files: { ...before.files, ...others } };
    if (samples.length > 0) evaluation.value = samples;
  } else {
    return;
  }
  await look();
}

export async function openBundled(sample: BundledSample) {
  await exclusively(async (signal) => {
    forget();
    const [model, ...samples] = await Promise.all([sample.model, ...sample.samples].map(fetchBlob));
    signal.throwIfAborted();
    loaded.value = { name: sample.file, model: model!, files: {} };
    evaluation.value = samples;
  });
  if (loaded.value?.name === sample.file) await look();
}

export function close() {
  cancel();
  forget();
  loaded.value = null;
  evaluation.value = [];
  announcement.value = 'Model removed';
}

async function look() {
  const source = loaded.value!;
  await exclusively(async (signal, tell) => {
    forget();
    const found = await octet.inspect(source, toOptions(choices.value), { signal, onProgress: tell });
    loaded.value = { ...source, files: found.files };
    inspected.value = found.report;
    announcement.value = `${source.name} is loaded`;
  });
}
