// Where a quantized model loses: every value and weight against the float model's. The figures are those of
// `octet compare --layers --json`.

import type { Drift, Failure, Request, Sample, WrittenInMemory } from './octet.js';

export type ModelSource = Pick<Request, 'name' | 'model' | 'open'>;

export interface LayersRequest {
  /** The float model. */
  reference: ModelSource;
  candidate: ModelSource;
}

export interface StartedLayers {
  layers: LayerSteps;
}

/** Names of values that a run is to show besides what the model gives; nothing to run where there is none. */
export interface LayerSlice {
  reference: string[];
  candidate: string[];
}

/**
 * Comparing layers in steps: begin_sample() with the first sample, then plan_slices(), then for every slice both its
 * models over all samples, each begin_sample(), run, add(). Samples must come in the same order for every slice.
 * delete() gives all back.
 */
export interface LayerSteps {
  /** Checks a sample and brings it into the types of the model's inputs. `name` is for messages. */
  begin_sample(request: { sample: Sample; name?: string }): { sample: Sample } | Failure;
  /**
   * By the sizes of the sample that was begun: as many values together as keep within `budget` bytes, for what the
   * runtime holds of them and the copies besides; 256 MB when absent. Forgets what was added.
   */
  plan_slices(request: { budget?: number }): { slices: LayerSlice[] } | Failure;
  /** A model that shows a slice. To be run without graph optimizations, which would do away with values. */
  slice_model(request: { slice: number; which: 'reference' | 'candidate' }): WrittenInMemory | Failure;
  /** What both models gave for the sample that was begun; values that are not of the slice are passed over. */
  add(request: { slice: number; reference: Sample; candidate: Sample }): { samples: number } | Failure;
  /** `description`: of the samples, for the report. */
  result(request: { description?: string }): { layers: LayerComparison } | Failure;
  delete(): void;
}

export type ValueDrift = Omit<Drift, 'name'>;

export interface ComparedValue {
  /** Of the float model. */
  value: string;
  /** That makes it there; empty for an input. */
  node: string;
  op: string;
  /** What stands for it in the quantized model. */
  quantized: string;
  /** Against the float model: all loss up to here. */
  xmodel_err: ValueDrift;
  /** The value in front of its rounding in the quantized model; absent where it is not rounded. */
  unrounded?: string;
  /** Of its rounding alone. */
  qdq_err?: ValueDrift;
}

export interface ComparedWeight {
  /** Of the float model. */
  weight: string;
  quantized: string;
  /** Of the integers: INT8 and the like. */
  type: string;
  /** Of the float model that read it. */
  nodes: string[];
  elements: number;
  sqnr_db: number | null;
  max_abs_error: number | null;
  max_abs: number | null;
}

export interface LayerComparison {
  /** Whether names are those of the float model once it is prepared. */
  names_of_prepared_model: boolean;
  samples: number;
  samples_description: string;
  /** Of the float model, inputs included. */
  float_values: number;
  /** Values that the quantized model rounds, and those of them that were found in the float model. */
  rounded: number;
  rounded_matched: number;
  /** Stored integers that no float tensor was found for. */
  weights_unmatched: number;
  /** How often all samples ran. */
  runs: number;
  /** The most rounded away first, then by the loss up to there. */
  values: ComparedValue[];
  /** The worst first. */
  weights: ComparedWeight[];
}
