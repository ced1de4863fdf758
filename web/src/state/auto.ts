// The automatic search: what it found so far, and what of it becomes a run.
import { computed, signal } from '@preact/signals';
import { bytesOf, failure, LARGEST_TO_RUN, OctetError } from 'octet-wasm';
import type { AutoCandidate, AutoState, ModelFiles, Plan, Report, Stage } from 'octet-wasm';
import { autoOptions, budgetOf, settled } from '../options';
import type { Choices } from '../options';
import type { NativeTimes } from './auto_native';
import { choices } from './choices';
import { octet } from './client';
import { inForce } from './in_force';
import { announcement, exclusively, job, problem } from './job';
import type { Tell } from './job';
import { inspected, loaded } from './model';
import { learn } from './ranges';
import type { Ranges } from './ranges';
import { awaited, check, lacksSamples, newId, outOfReach, quantize } from './run';
import { addRun, inTurn } from './runs';
import type { Run } from './runs';
import { calibration, checkedOn, describe, labelsOf, sourceOf } from './samples';
import { forgetSearch, keepSearch, keptSearch } from './search_store';

export interface Found {
  id: string;
  created: number;
  /** Whether an earlier visit to the page, or to the model, left it. */
  earlier?: boolean;
  source: ModelFiles;
  /** What was asked for. */
  choices: Choices;
  state: AutoState;
  /** Of its candidates. */
  plans: Plan[];
  /** What candidates were judged on. */
  judgedOn: string;
  calibrated: Run['calibrated'];
  /** Of some of its candidates, where octet serve timed them. */
  native?: NativeTimes;
  /** Where a later search has the same samples, it reads this instead of measuring again. */
  log?: string;
}

const made = signal<Found | null>(null);

/** Of the model that is open; what another one gave says nothing of it. */
export const found = computed(() => (made.value && made.value.source.model === loaded.value?.model ? made.value : null));
/** Whether a search is under way. */
export const searching = signal(false);
/** The budget that the reader tries out: a floor in dB, or right answers that may be lost, in percent. */
export const tried = signal(0);

/** Whether right answers are the budget. */
export const byDrop = ({ choices: { budget_drop } }: Pick<Found, 'choices'>) => budget_drop >= 0;

const askedIn = (chosen: Choices) => (chosen.budget_drop >= 0 ? chosen.budget_drop : chosen.budget_sqnr);

const NOTHING: AutoState = {
  candidates: [], chosen: null, choices: [], sensitivities: [], account: [], unmet: '', ended_early: null, tried: 0,
  seconds: 0,
};

/** Which candidate would be chosen with this budget. */
export function chosenAt(now: Found, budget: number): number | null {
  const { choices: floors, choices_by_drop: drops = [] } = now.state;
  if (byDrop(now)) return drops.filter(({ from }) => from <= budget).at(-1)?.candidate ?? null;
  return floors.find(({ up_to }) => budget <= up_to)?.candidate ?? null;
}

let stopping: AbortController | null = null;

/** Ends the search with the best so far. */
export function stopSearch() {
  stopping?.abort();
  announcement.value = 'Stopping with the best so far';
}

function stagesOf(bytes: number): Stage[] {
  return bytes <= LARGEST_TO_RUN ? ['calibrate', 'plan', 'search', 'write', 'runtime', 'check', 'time'] : ['calibrate', 'plan', 'search', 'write'];
}

function runOf(from: Found, { output, report }: { output: ModelFiles; report: Report }): Run {
  const { source, calibrated, choices: chosen } = from, { mode } = report.plan;
  return {
    id: newId(), created: Date.now(), name: source.name, source: { name: source.name, bytes: bytesOf(source) },
    choices: chosen, options: { mode, ...autoOptions(chosen) }, output, report, comparison: null, notVerified: null,
    ranges: null, calibrated: mode === 'static' ? calibrated : null, layers: null, pinned: false, native: null,
  };
}

async function finish(run: Run, source: ModelFiles, signal: AbortSignal, tell: Tell) {
  addRun(run);
  await check(run, source, signal, tell);
}

const calibratedOf = ({ samples, description }: Ranges) => ({ samples, description });

const noLabels = () => failure(
  'data', 'no labels say which answers are right', 'drop labels.json with the samples to check on, or empty “Right answers lost”',
);

// The log is of other samples, settings, or another browser.
const isStrange = (error: unknown) => error instanceof OctetError && error.error.where === 'log';

export async function searchAutomatically() {
  const source = loaded.value, set = calibration.value;
  if (!source || !inspected.value || !set || lacksSamples.value) return;
  const chosen = settled(choices.value), judging = checkedOn.value, log = found.value?.log;
  awaited.value = true;
  stopping = new AbortController();
  const { signal: stop } = stopping;
  searching.value = true;
  tried.value = askedIn(chosen);
  try {
    await exclusively(stagesOf(bytesOf(source)), async (signal, tell) => {
      problem.value = null;
      if (set.kind === 'served') throw outOfReach('drop samples here, or search with octet auto on the command line');
      const labels = labelsOf(judging);
      if (byDrop({ choices: chosen }) && !labels) throw noLabels();
      const hooks = { signal, onProgress: tell };
      made.value = {
        id: newId(), created: Date.now(), source, choices: chosen, judgedOn: describe(judging), state: NOTHING, plans: [],
        calibrated: null, ...(log !== undefined && { log }),
      };
      const ranges = await learn(source, set, chosen, hooks);
      update({ calibrated: calibratedOf(ranges) });
      const request = {
        calib: sourceOf(set, chosen, 'calibration'), data: sourceOf(judging, chosen, 'evaluation'), ranges: ranges.text,
        budget: budgetOf(chosen), options: autoOptions(chosen), ...(labels && { labels }),
      };
      const search = (known?: string) => octet.auto(source, { ...request, ...(known !== undefined && { log: known }) }, {
        ...hooks, stop, onState: (state) => update({ state }), onCandidate: take,
      });
      const result = await search(log).catch((error: unknown) => {
        if (!isStrange(error)) throw error;
        return search();
      });
      const { output, report, ...state } = result;
      update({ state, log: result.log });
      searching.value = false;
      announcement.value = `Found: ${state.candidates[state.chosen!]!.what}`;
      await finish(runOf(made.value!, { output, report }), source, signal, tell);
    });
  } finally {
    searching.value = false;
    stopping = null;
    keep();
  }
}

function update(change: Partial<Found>) {
  if (made.value) made.value = { ...made.value, ...change };
}

function take({ plan, ...candidate }: AutoCandidate & { plan: Plan }, state: AutoState & { log?: string }) {
  const { log } = state;
  update({ state, plans: [...made.value!.plans, plan], ...(log !== undefined && { log }) });
  keep();
  announcement.value = `Measured: ${candidate.what}`;
}

let unkept = false;

// What comes while it is written is written with the next.
function keep() {
  if (unkept || !made.value?.plans.length) return;
  unkept = true;
  inTurn(async () => {
    unkept = false;
    if (made.value) await keepSearch(made.value);
  });
}

/** Of the search that is shown, unless it is another by now. */
export function addNative(id: string, native: NativeTimes) {
  if (made.value?.id !== id) return;
  update({ native });
  keep();
}

/** Forgets what the search of this model found. */
export function removeFound() {
  const gone = found.value;
  if (!gone || searching.value) return;
  made.value = null;
  inTurn(() => forgetSearch(gone.id));
  announcement.value = 'Removed what the search found';
}

// What was found of the model that was opened just now.
async function restore() {
  const source = loaded.value;
  if (!source || found.value) return;
  const kept = await keptSearch(source);
  if (!kept || found.value || loaded.value?.model !== source.model) return;
  tried.value = askedIn(kept.choices);
  made.value = { ...kept, source: loaded.value, earlier: true };
}

inspected.subscribe((report) => {
  // A browser that keeps no files has nothing of an earlier visit.
  if (report) void restore().catch(() => {});
});

/** Makes a run of a candidate's plan. */
export async function takeCandidate(index: number) {
  const from = found.value, plan = from?.plans[index];
  if (!from || !plan || job.value) return;
  const { source, choices: chosen } = from;
  awaited.value = true;
  await exclusively(['plan', 'write', 'runtime', 'check', 'time'], async (signal, tell) => {
    problem.value = null;
    const { external_data } = chosen;
    const output = `${source.name.replace(/\.onnx$/i, '')}.auto.onnx`;
    const request = { plan, output, ...(external_data && { external_data }) };
    const written = await octet.quantize(source, request, { signal, onProgress: tell });
    await finish(runOf(from, written), source, signal, tell);
  });
}

/** Does what the mode does. */
export const begin = () => (inForce.value.mode === 'auto' ? searchAutomatically() : quantize());
