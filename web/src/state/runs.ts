// The runs that were made: which is looked at, which is pinned to compare with. They are kept until they are removed.
import { computed, effect, signal } from '@preact/signals';
import { discard } from 'octet-wasm';
import type { Options, Report } from 'octet-wasm';
import type { Choices } from '../options';
import type { Native } from '../native/figures';
import type { Comparison, LayerComparison, ModelFiles } from '../package';
import { job } from './job';
import { forgetRun, keepRun, keptRuns } from './run_store';

export interface Run {
  id: string;
  created: number;
  /** Of the model file that came in. */
  name: string;
  source: { name: string; bytes: number };
  choices: Choices;
  options: Options;
  /** File name of the plan that it was made with, where one was given. */
  planFile?: string;
  output: ModelFiles;
  report: Report;
  comparison: Comparison | null;
  notVerified: string | null;
  /** What calibration learned, as text; null where the mode needs none. */
  ranges: string | null;
  calibrated: { samples: number; description: string } | null;
  layers: LayerComparison | null;
  /** Figures of `octet bench`: from `octet serve`, or from a report that was dropped. */
  native: Native | null;
  pinned: boolean;
}

export const outputBytes = ({ report }: Run) => report.sizes.output_bytes;

export const runs = signal<Run[]>([]);
export const currentId = signal<string | null>(null);
/** What to know of keeping runs, in a sentence: that the browser gives no room, or cannot keep files. */
export const keeping = signal<string | null>(null);

export const current = computed(() => runs.value.find(({ id }) => id === currentId.value) ?? null);
export const baseline = computed(() => runs.value.find(({ pinned }) => pinned) ?? null);

// Writes follow each other: of one run, and of all, since room is shared.
let writing: Promise<void> = Promise.resolve();

/** Writes after what is being written. */
export function inTurn(step: () => Promise<void>) {
  writing = writing.then(step).catch((error: unknown) => {
    keeping.value = whyNotKept(error);
  });
}

function whyNotKept(error: unknown): string {
  const name = error instanceof Error ? error.name : '';
  if (name === 'QuotaExceededError') {
    return 'The browser gives this page no more room: what is newest is lost on reload. Download it, or remove runs.';
  }
  return 'This browser keeps no files for this page: a reload loses the runs. Download what you need.';
}

const replace = (id: string, change: Partial<Run>) => {
  runs.value = runs.value.map((run) => (run.id === id ? { ...run, ...change } : run));
};

// Once a run's files are kept, those that quantizing left are needed no more, but by what is still being done.
const spent: ModelFiles[] = [];

effect(() => {
  if (job.value !== null) return;
  for (const output of spent.splice(0)) void discard(output);
});

function letGo(output: ModelFiles) {
  if (job.peek() === null) void discard(output);
  else spent.push(output);
}

function keep({ id }: Run) {
  inTurn(async () => {
    const run = runs.value.find((one) => one.id === id);
    const output = run && (await keepRun(run));
    if (!run || !output) return;
    replace(id, { output });
    letGo(run.output);
  });
}

export function addRun(run: Run) {
  runs.value = [run, ...runs.value];
  currentId.value = run.id;
  keep(run);
}

export function updateRun(id: string, change: Partial<Run>) {
  replace(id, change);
  const run = runs.value.find((one) => one.id === id);
  if (run) keep(run);
}

export function removeRun(id: string) {
  const gone = runs.value.find((run) => run.id === id);
  if (gone) letGo(gone.output);
  runs.value = runs.value.filter((run) => run.id !== id);
  if (currentId.value === id) currentId.value = runs.value[0]?.id ?? null;
  keeping.value = null;
  inTurn(() => forgetRun(id));
}

/** Pins a run, or takes the pin off where it is pinned: there is one at most. */
export function pin(id: string) {
  for (const run of runs.value) {
    const pinned = run.id === id && !run.pinned;
    if (pinned !== run.pinned) updateRun(run.id, { pinned });
  }
}

/** Brings back what an earlier visit left. Runs that were made meanwhile stay first. */
export async function restore(): Promise<void> {
  try {
    const known = new Set(runs.value.map(({ id }) => id));
    const kept = (await keptRuns()).filter(({ id }) => !known.has(id));
    runs.value = [...runs.value, ...kept].sort((a, b) => b.created - a.created);
  } catch (error) {
    keeping.value = whyNotKept(error);
  }
}
