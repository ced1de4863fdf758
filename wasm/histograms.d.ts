// How values are spread: of stored weights, and of what calibration saw of activations.
import type { Request } from './octet.js';

export interface Interval {
  low: number;
  high: number;
}

export interface ValueHistogram extends Interval {
  tensor: string;
  /** Values in bins of one width from `low` to `high`, the smallest and largest finite value. */
  counts: number[];
  /** Finite ones. */
  values: number;
  zeros: number;
  non_finite: number;
  /** Along the axis asked for: the first 4096. */
  channels?: Interval[];
}

export interface WeightHistogramsRequest extends Pick<Request, 'name' | 'model' | 'open' | 'options'> {
  /** Names as the plan gives them. */
  tensors: { tensor: string; axis?: number | null }[];
  /** 100 when absent. */
  bins?: number;
}

export interface ActivationHistogramsRequest {
  ranges: string | object;
  /** All that calibration saw when absent. */
  tensors?: string[];
  bins?: number;
}

export interface Histograms {
  histograms: ValueHistogram[];
}
