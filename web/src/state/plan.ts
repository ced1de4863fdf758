// What would become of the model with what is chosen, worked out anew whenever that changes: the core plans in no time.
import { computed, effect, signal } from '@preact/signals';
import type { Report, WorkError } from 'octet-wasm';
import { toOptions, WIDEST } from '../options';
import { choices } from './choices';
import { octet } from './client';
import { asError, job } from './job';
import { inspected, loaded } from './model';

const REST_MS = 120;
const LONG_MS = 3000;

interface Planned {
  report: Report | null;
  /** Why there is no plan: options that contradict each other, or name what the model does not have. */
  error: WorkError | null;
}

const made = signal<Planned>({ report: null, error: null });

/** Until there is a plan, the one that came with opening the model. */
export const planned = computed(() => made.value.report ?? inspected.value);
export const planError = computed(() => made.value.error);

let later: ReturnType<typeof setTimeout> | undefined;
let turn = 0, took = 0;

async function plan() {
  const model = loaded.peek();
  if (!model) return;
  const mine = ++turn, started = performance.now();
  // What only measuring can tell does not change what is planned before.
  const { smooth_quant, equalize, bias_correction, min_sqnr, ...options } = toOptions(choices.peek());
  if (JSON.stringify(options) === JSON.stringify(WIDEST)) {
    // As it was when the model was opened: a large model is not read again for that.
    made.value = { report: null, error: null };
    return;
  }
  let now: Planned;
  try {
    now = { report: (await octet.inspect(model, options)).report, error: null };
  } catch (error) {
    now = { report: null, error: asError(error) };
  }
  took = performance.now() - started;
  if (mine === turn && loaded.peek() === model) made.value = now;
}

effect(() => {
  const report = inspected.value;
  void choices.value;
  const busy = job.value !== null;
  clearTimeout(later);
  if (!report) {
    ++turn;
    took = 0;
    made.value = { report: null, error: null };
  } else if (!busy && took < LONG_MS) {
    later = setTimeout(() => void plan(), REST_MS);
  }
});
