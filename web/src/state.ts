// What the page knows, and the steps that change it. Components show it and call the actions; nothing else holds state.
import { computed, signal } from '@preact/signals';
import type { Report } from 'octet-core';
import { DEFAULTS, toOptions } from './options';
import type { Choices } from './options';
import { fetchBlob } from './samples';
import type { BundledSample } from './samples';
import { WorkClient } from './work/client';
import { WorkFailure } from './work/protocol';
import type { Measured, ModelSource, Progress, WorkError } from './work/protocol';

export interface Loaded {
  source: ModelSource;
  samples: Blob[]; // .npz
}

export interface Result {
  candidate: ModelSource;
  report: Report;
  choices: Choices;
}

export interface Job {
  started: number;
  progress: Progress | null;
}

export const loaded = signal<Loaded | null>(null);
export const inspected = signal<Report | null>(null);
export const problem = signal<WorkError | null>(null);
export const choices = signal<Choices>(DEFAULTS);
export const job = signal<Job | null>(null);
export const result = signal<Result | null>(null);
export const measured = signal<Measured | null>(null);
export const notMeasured = signal<string | null>(null);
/** Whether the reader waits for the result: then it takes the focus, and not while options are being tried. */
export const awaited = signal(false);
/** What was just done, for those who hear the page. */
export const announcement = signal('');

export const stale = computed(() => result.value !== null && result.value.choices !== choices.value);

const client = new WorkClient();
let current: AbortController | null = null;

// Runs `steps` as the one thing that is done. A newer call ends an older one, whose late results are dropped.
async function exclusively(steps: (signal: AbortSignal, tell: (progress: Progress) => void) => Promise<void>) {
  current?.abort(new DOMException('Replaced by newer work', 'AbortError'));
  const controller = (current = new AbortController());
  const started = performance.now();
  job.value = { started, progress: null };
  try {
    await steps(controller.signal, (progress) => {
      if (current === controller) job.value = { started, progress };
    });
  } catch (error) {
    if (controller.signal.aborted) return;
    problem.value = asError(error);
    announcement.value = problem.value.message;
  } finally {
    if (current === controller) {
      current = null;
      job.value = null;
    }
  }
}

function asError(error: unknown): WorkError {
  if (error instanceof WorkFailure) return error.error;
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'internal', where: '', problem: message, next: '', message, exit_status: 70 };
}

export function cancel() {
  current?.abort(new DOMException('Cancelled', 'AbortError'));
  announcement.value = 'Cancelled';
}

function forget() {
  inspected.value = problem.value = result.value = measured.value = notMeasured.value = null;
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
    loaded.value = { source: { name: model.name, model, files: others }, samples };
  } else if (before) {
    const { source } = before;
    loaded.value = {
      source: { ...source, files: { ...source.files, ...others } },
      samples: samples.length > 0 ? samples : before.samples,
    };
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
    loaded.value = { source: { name: sample.file, model: model!, files: {} }, samples };
  });
  if (loaded.value?.source.name === sample.file) await look();
}

export function close() {
  cancel();
  forget();
  loaded.value = null;
  announcement.value = 'Model removed';
}

async function look() {
  const model = loaded.value!;
  await exclusively(async (signal, tell) => {
    forget();
    const request = { source: model.source, options: toOptions(choices.value) };
    const found = await client.run('inspect', request, signal, tell);
    loaded.value = { ...model, source: { ...model.source, files: found.files } };
    inspected.value = found.report;
    announcement.value = `${model.source.name} is loaded`;
  });
}

export const outputName = (name: string) => `${name.replace(/\.onnx$/i, '')}.int8.onnx`;

export async function quantize(reader: 'waits' | 'goes on' = 'waits') {
  const model = loaded.value;
  if (!model || !inspected.value) return;
  const chosen = choices.value;
  awaited.value = reader === 'waits';
  await exclusively(async (signal, tell) => {
    problem.value = measured.value = notMeasured.value = null;
    const { source, samples } = model;
    const request = { source, options: toOptions(chosen), output: outputName(source.name) };
    const made = await client.run('quantize', request, signal, tell);
    result.value = { ...made, choices: chosen };
    announcement.value = 'Quantized; now both models run';
    try {
      measured.value = await client.run('measure', { source, candidate: made.candidate, samples }, signal, tell);
      announcement.value = measured.value.verdict.sentence;
    } catch (error) {
      if (signal.aborted) {
        notMeasured.value = 'it was cancelled';
        throw error;
      }
      notMeasured.value = asError(error).message;
      announcement.value = `Not verified: ${notMeasured.value}`;
    }
  });
}

let later: ReturnType<typeof setTimeout> | undefined;

/** After the first run a changed option runs again, once the hand rests. */
export function choose(change: Partial<Choices>) {
  choices.value = { ...choices.value, ...change };
  clearTimeout(later);
  if (result.value) later = setTimeout(() => void quantize('goes on'), 300);
}
