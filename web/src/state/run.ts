// Quantizes with what is chosen, then checks and times the result: a Run.
import { computed, signal } from '@preact/signals';
import { toOptions } from '../options';
import type { Comparison } from '../package';
import type { Measured } from '../work/protocol';
import { choices, choose } from './choices';
import { client } from './client';
import { announcement, asError, exclusively, problem } from './job';
import { inspected, loaded } from './model';
import { addRun, current, updateRun } from './runs';
import type { Run } from './runs';
import { evaluation } from './samples';

/** Whether the reader waits for the result: then it takes the focus, and not while options are being tried. */
export const awaited = signal(false);

export const stale = computed(() => current.value !== null && current.value.choices !== choices.value);

export const outputName = (name: string) => `${name.replace(/\.onnx$/i, '')}.int8.onnx`;

// crypto.randomUUID() is for pages from localhost or over TLS alone.
let made = 0;
const newId = () => `${Date.now().toString(36)}-${(made++).toString(36)}`;

const bytesOf = (model: Blob, files: Record<string, Blob> = {}) =>
  Object.values(files).reduce((sum, { size }) => sum + size, model.size);

function asComparison({ reference_ms, candidate_ms, runtime, inputs, synthetic, ...judged }: Measured): Comparison {
  const { hardwareConcurrency: cores, userAgent: agent } = navigator;
  return {
    ...judged,
    latency_by_threads: judged.latency
      ? [{ threads: 1, reference_ms, candidate_ms, ...judged.latency, runs_per_block: 1 }] : [],
    load_ms: { reference: 0, candidate: 0 },
    samples: { description: inputs, count: 0, synthetic },
    environment: { runtime, agent, cores, isolated: crossOriginIsolated, threads_available: 1, clock_ms: 0.1 },
  };
}

export async function quantize(reader: 'waits' | 'goes on' = 'waits') {
  const source = loaded.value;
  if (!source || !inspected.value) return;
  const chosen = choices.value, options = toOptions(chosen);
  awaited.value = reader === 'waits';
  await exclusively(async (signal, tell) => {
    problem.value = null;
    const output = outputName(source.name);
    const { candidate, report } = await client.run('quantize', { source, options, output }, signal, tell);
    const run: Run = {
      id: newId(), created: Date.now(), name: source.name,
      source: { name: source.name, bytes: bytesOf(source.model, source.files) },
      choices: chosen, options, output: candidate, report,
      comparison: null, notVerified: null, ranges: null, calibrated: null, layers: null, pinned: false,
    };
    addRun(run);
    announcement.value = 'Quantized; now both models run';
    try {
      const request = { source, candidate, samples: evaluation.value };
      const measured = await client.run('measure', request, signal, tell);
      updateRun(run.id, { comparison: asComparison(measured) });
      announcement.value = measured.verdict.sentence;
    } catch (error) {
      const why = signal.aborted ? 'it was cancelled' : asError(error).message;
      updateRun(run.id, { notVerified: why });
      if (signal.aborted) throw error;
      announcement.value = `Not verified: ${why}`;
    }
  });
}

/** Leaves a node in float, and runs again. */
export async function exclude(node: string) {
  const { excluded } = choices.value;
  if (!excluded.includes(node)) choose({ excluded: [...excluded, node] });
}

/** Compares a run's layers with the float model's. */
export async function debugLayers(_run: Run) {}

let later: ReturnType<typeof setTimeout> | undefined;

// After the first run a changed option runs again, once the hand rests.
choices.subscribe(() => {
  clearTimeout(later);
  if (current.peek()) later = setTimeout(() => void quantize('goes on'), 300);
});
