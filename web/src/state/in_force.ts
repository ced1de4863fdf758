// A plan that was given, and what is in force with it: it decides most of what can be chosen. It is data, and so stands
// in no address.
import { computed, signal } from '@preact/signals';
import type { Plan, WorkError } from 'octet-wasm';
import { calibrates, underPlan } from '../options';
import { choices } from './choices';

export interface PlanFile {
  name: string;
  plan: Plan;
}

export const planFile = signal<PlanFile | null>(null);
/** Why a file that was given is no plan for this model. */
export const planProblem = signal<WorkError | null>(null);

export const inForce = computed(() => (planFile.value ? underPlan(choices.value, planFile.value.plan) : choices.value));

/** Whether ranges are missing, as in a plan from before calibration. */
export const lacksRanges = ({ activations = [] }: Plan): boolean =>
  activations.some(({ same_as, low }) => same_as === undefined && low === undefined);

/** Whether ranges are learned from samples. */
export const learns = computed(() =>
  planFile.value ? lacksRanges(planFile.value.plan) : calibrates(choices.value.mode));

export function removePlan() {
  planFile.value = planProblem.value = null;
}
