// Every run, and which of them is shown.
import { computed, signal } from '@preact/signals';
import type { Options, Report } from 'octet-core';
import type { Choices } from '../options';
import type { Comparison, LayerComparison, ModelFiles } from '../package';

export interface Run {
  id: string;
  created: number;
  /** Of the model file. */
  name: string;
  source: { name: string; bytes: number };
  choices: Choices;
  options: Options;
  output: ModelFiles;
  report: Report;
  comparison: Comparison | null;
  /** Why there is no comparison, where there will be none. */
  notVerified: string | null;
  ranges: string | null;
  calibrated: { samples: number; description: string } | null;
  layers: LayerComparison | null;
  pinned: boolean;
}

export const runs = signal<Run[]>([]);
export const currentId = signal<string | null>(null);
export const current = computed(() => runs.value.find(({ id }) => id === currentId.value) ?? null);
export const baseline = computed(() => runs.value.find(({ pinned }) => pinned) ?? null);

/** Adds a run and shows it. */
export function addRun(run: Run) {
  runs.value = [...runs.value, run];
  currentId.value = run.id;
}

export function updateRun(id: string, change: Partial<Run>) {
  runs.value = runs.value.map((run) => (run.id === id ? { ...run, ...change } : run));
}

export function removeRun(id: string) {
  runs.value = runs.value.filter((run) => run.id !== id);
  if (currentId.value === id) currentId.value = null;
}

export function pin(id: string) {
  runs.value = runs.value.map((run) => ({ ...run, pinned: run.id === id && !run.pinned }));
}

export async function restore() {}
