// Quantizes with what is chosen, then checks and times the result: a Run.
import { computed, signal } from '@preact/signals';
import { sameChoices, toOptions } from '../options';
import { choices, choose } from './choices';
import { octet } from './client';
import { announcement, asError, exclusively, problem } from './job';
import { inspected, loaded } from './model';
import { addRun, current, updateRun } from './runs';
import type { Run } from './runs';
import { evaluation } from './samples';

/** Whether the reader waits for the result: then it takes the focus, and not while options are being tried. */
export const awaited = signal(false);

export const stale = computed(() => current.value !== null && !sameChoices(current.value.choices, choices.value));

export const outputName = (name: string) => `${name.replace(/\.onnx$/i, '')}.int8.onnx`;

// crypto.randomUUID() is for pages from localhost or over TLS alone.
let made = 0;
const newId = () => `${Date.now().toString(36)}-${(made++).toString(36)}`;

const bytesOf = (model: Blob, files: Record<string, Blob> = {}) =>
  Object.values(files).reduce((sum, { size }) => sum + size, model.size);

export async function quantize(reader: 'waits' | 'goes on' = 'waits') {
  const source = loaded.value;
  if (!source || !inspected.value) return;
  const chosen = choices.value, options = toOptions(chosen);
  awaited.value = reader === 'waits';
  await exclusively(async (signal, tell) => {
    problem.value = null;
    const hooks = { signal, onProgress: tell };
    const { output, report } = await octet.quantize(source, { ...options, output: outputName(source.name) }, hooks);
    const run: Run = {
      id: newId(), created: Date.now(), name: source.name,
      source: { name: source.name, bytes: bytesOf(source.model, source.files) },
      choices: chosen, options, output, report,
      comparison: null, notVerified: null, ranges: null, calibrated: null, layers: null, pinned: false,
    };
    addRun(run);
    announcement.value = 'Quantized; now both models run';
    try {
      const files = evaluation.value.map((blob, i) => ({ name: `${String(i).padStart(4, '0')}.npz`, blob }));
      const samples = files.length > 0 ? { files } : { synthetic: {} };
      const comparison = await octet.compare(source, output, { samples }, hooks);
      updateRun(run.id, { comparison });
      announcement.value = comparison.verdict.sentence;
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
  const { nodes_to_exclude: excluded } = choices.value;
  if (!excluded.includes(node)) choose({ nodes_to_exclude: [...excluded, node] });
}

/** Compares a run's layers with the float model's. */
export async function debugLayers(_run: Run) {}

let later: ReturnType<typeof setTimeout> | undefined;

// After the first run a changed option runs again, once the hand rests.
choices.subscribe(() => {
  clearTimeout(later);
  if (current.peek()) later = setTimeout(() => void quantize('goes on'), 300);
});
