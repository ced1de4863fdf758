// What would become of the model with what is chosen, worked out anew whenever that changes: the core plans in no time.
import { computed, effect, signal } from '@preact/signals';
import type { Report, WorkError } from 'octet-wasm';
import { planOptions, toOptions, WIDEST } from '../options';
import { octet } from './client';
import { inForce, planFile } from './in_force';
import { asError, job } from './job';
import { inspected, loaded } from './model';
import { ofFile } from './take_plan';

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
  const given = planFile.peek();
  // What only measuring can tell does not change what is planned before.
  const { smooth_quant, equalize, bias_correction, min_sqnr, ...asked } = toOptions(inForce.peek());
  const options = given ? { ...planOptions(inForce.peek()), plan: given.plan } : asked;
  if (JSON.stringify(options) === JSON.stringify(WIDEST)) {
    // As it was when the model was opened: a large model is not read again for that.
    made.value = { report: null, error: null };
    return;
  }
  let now: Planned;
  try {
    now = { report: (await octet.inspect(model, options)).report, error: null };
  } catch (error) {
    now = { report: null, error: given ? ofFile(asError(error), given.name) : asError(error) };
  }
  took = performance.now() - started;
  if (mine === turn && loaded.peek() === model) made.value = now;
}

effect(() => {
  const report = inspected.value;
  void inForce.value;
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
