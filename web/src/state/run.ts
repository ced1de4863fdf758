// Quantizes with what is chosen, then checks and times the result: a Run.
import { computed, signal } from '@preact/signals';
import { bytesOf, failure, LARGEST_TO_RUN } from 'octet-wasm';
import type { Comparison, ModelFiles, Options, Stage } from 'octet-wasm';
import { planOptions, sameChoices, searched, settled, thresholdsOf, toOptions } from '../options';
import { choices, choose } from './choices';
import { octet } from './client';
import { inForce, learns, planFile } from './in_force';
import { announcement, asError, exclusively, problem } from './job';
import type { Tell } from './job';
import { inspected, loaded } from './model';
import { measureIfCheap } from './native';
import { learn } from './ranges';
import { addRun, current, updateRun } from './runs';
import type { Run } from './runs';
import { calibration, checkedOn, describe, evaluation, isReal, sourceOf } from './samples';

/** Whether the reader waits for the result: then it takes the focus, and not while options are being tried. */
export const awaited = signal(false);

export const stale = computed(() => {
  const run = current.value;
  return run !== null && !(run.planFile === planFile.value?.name && sameChoices(run.choices, inForce.value));
});

// crypto.randomUUID() is for pages from localhost or over TLS alone.
let made = 0;
export const newId = () => `${Date.now().toString(36)}-${(made++).toString(36)}`;

/** What static mode and the search lack. */
export const lacksSamples = computed(() => learns.value && calibration.value === null);

function stagesOf(real: boolean): Stage[] {
  const first: Stage[] = learns.peek() ? ['calibrate'] : [];
  return real ? [...first, 'plan', 'write', 'runtime', 'check', 'time'] : [...first, 'plan', 'write'];
}

/** Compares what came of a run with the float model, and times both. */
export async function check(run: Run, source: ModelFiles, signal: AbortSignal, tell: Tell) {
  if (run.source.bytes > LARGEST_TO_RUN) {
    const why = 'models above 1.5 GB do not fit a browser twice; octet quantize on the command line verifies them';
    updateRun(run.id, { notVerified: why });
    announcement.value = `Quantized. Not verified: ${why}`;
    return;
  }
  announcement.value = 'Quantized; now both models run';
  try {
    const samples = sourceOf(checkedOn.value, run.choices, 'evaluation');
    const calibrated_on = run.calibrated?.samples;
    const judging = {
      samples, plan: run.report.plan, ...(calibrated_on !== undefined && { calibrated_on }), ...thresholdsOf(run.choices),
    };
    // Drift is known before times are.
    const onPartial = (comparison: Comparison) => {
      updateRun(run.id, { comparison });
      announcement.value = 'Outputs are compared; now both models are timed';
    };
    const comparison = await octet.compare(source, run.output, judging, { signal, onProgress: tell, onPartial });
    updateRun(run.id, { comparison });
    announcement.value = comparison.verdict.sentence;
  } catch (error) {
    const why = signal.aborted ? 'it was cancelled' : asError(error).message;
    updateRun(run.id, { notVerified: why });
    if (signal.aborted) throw error;
    announcement.value = `Not verified: ${why}`;
  }
}

export async function quantize(reader: 'waits' | 'goes on' = 'waits') {
  const source = loaded.value;
  if (!source || !inspected.value || lacksSamples.value) return;
  const chosen = settled(inForce.value), given = planFile.value, bytes = bytesOf(source);
  const { min_sqnr, ...others } = given ? planOptions(chosen) : toOptions(chosen);
  // As on the command line, the floor is held where samples are real.
  const options: Options = min_sqnr && isReal(checkedOn.value) ? { ...others, min_sqnr } : others;
  const set = learns.value ? calibration.value : null;
  awaited.value = reader === 'waits';
  await exclusively(stagesOf(bytes <= LARGEST_TO_RUN), async (signal, tell) => {
    problem.value = null;
    const hooks = { signal, onProgress: tell };
    // What measures as it goes calibrates by itself, and more than once.
    const measures = searched(options);
    if (measures && set?.kind === 'served') throw outOfReach('drop some here, or leave those steps out');
    const ranges = set && !measures ? await learn(source, set, chosen, hooks) : null;
    const request = {
      ...options,
      ...(given && { plan: given.plan }),
      ...(ranges && { ranges: ranges.text }),
      ...(measures && set && set.kind !== 'served' && { calib: sourceOf(set, chosen, 'calibration') }),
      ...(measures && isReal(checkedOn.value) && { data: sourceOf(checkedOn.value, chosen, 'evaluation') }),
    };
    const { output, report, ranges: better } = await octet.quantize(source, request, hooks);
    const calibrated = ranges ?? (better && set ? { samples: samplesOf(better), description: describe(set) } : null);
    const run: Run = {
      id: newId(), created: Date.now(), name: source.name, source: { name: source.name, bytes },
      choices: chosen, options, ...(given && { planFile: given.name }), output, report,
      comparison: null, notVerified: null, ranges: better ?? ranges?.text ?? null,
      calibrated: calibrated && { samples: calibrated.samples, description: calibrated.description },
      layers: null, native: null, pinned: false,
    };
    addRun(run);
    await check(run, source, signal, tell);
    await measureIfCheap(run.id, source, signal, tell);
  });
}

/** Of samples that `octet serve` alone can read. */
export const outOfReach = (next: string) => failure(
  'data', 'what measures as it goes needs samples in this browser, and these are where octet serve alone reads them', next,
);

const samplesOf = (ranges: string): number => (JSON.parse(ranges) as { samples: number }).samples;

/** Leaves a node in float, and runs again. */
export async function exclude(node: string) {
  const { nodes_to_exclude: excluded } = choices.value;
  if (!excluded.includes(node)) choose({ nodes_to_exclude: [...excluded, node] });
}

/** Compares a run's layers with the float model's. */
export async function debugLayers(run: Run) {
  const source = loaded.value;
  if (!source) return;
  await exclusively(['layers'], async (signal, onProgress) => {
    problem.value = null;
    const samples = sourceOf(checkedOn.value, run.choices, 'evaluation');
    const layers = await octet.compareLayers(source, run.output, { samples }, { signal, onProgress });
    updateRun(run.id, { layers });
    announcement.value = 'Layers are compared';
  });
}

const byHand = () => inForce.peek().mode === 'auto';

let later: ReturnType<typeof setTimeout> | undefined;

function again() {
  clearTimeout(later);
  if (current.peek() && loaded.peek() && !byHand()) later = setTimeout(() => stale.peek() && void quantize('goes on'), 300);
}

// After the first run a changed option runs again, once the hand rests; a search is begun by hand.
choices.subscribe(again);

// So do other samples, and a plan; what is shown was measured on those that were there before.
function anew(given: object | null) {
  clearTimeout(later);
  if (given && current.peek() && loaded.peek() && !byHand()) later = setTimeout(() => void quantize('goes on'), 300);
}
calibration.subscribe((set) => learns.peek() && anew(set));
evaluation.subscribe(anew);
// A plan of the same name may hold something else.
planFile.subscribe((given) => (given ? anew(given) : again()));
