// The shapes that the page works with.
import type { Drift, Judged, Latency } from 'octet-core';

/** A model as a file, and its external data by the names that the model gives it. */
export interface ModelFiles {
  name: string;
  model: Blob;
  files?: Record<string, Blob>;
}

export interface Timed {
  threads: number;
  reference_ms: number[];
  candidate_ms: number[];
  baseline: Latency;
  candidate: Latency;
  speedup: { ratio: number; low: number; high: number };
  runs_per_block: number;
}

export interface Comparison extends Judged {
  latency_by_threads: Timed[];
  load_ms: { reference: number; candidate: number };
  samples: { description: string; count: number; synthetic: boolean };
  environment: {
    runtime: string; agent: string; cores: number; isolated: boolean; threads_available: number; clock_ms: number;
  };
}

export type ValueDrift = Omit<Drift, 'name'>;

/** As `octet compare --layers --json` tells it. */
export interface LayerComparison {
  names_of_prepared_model: boolean;
  samples: number;
  samples_description: string;
  float_values: number;
  rounded: number;
  rounded_matched: number;
  weights_unmatched: number;
  runs: number;
  /** The most rounded away first, then by the loss up to there. */
  values: {
    value: string; node: string; op: string; quantized: string; xmodel_err: ValueDrift;
    unrounded?: string; qdq_err?: ValueDrift;
  }[];
  weights: {
    weight: string; quantized: string; type: string; nodes: string[]; elements: number;
    sqnr_db: number | null; max_abs_error: number | null; max_abs: number | null;
  }[];
}

/** How often values occur: equal bins from `low` to `high`. */
export interface TensorHistogram {
  tensor: string;
  low: number;
  high: number;
  counts: number[];
  non_finite: number;
  channels?: { low: number; high: number }[];
}
