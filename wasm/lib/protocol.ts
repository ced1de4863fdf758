// What page and worker tell each other. Every message carries the id of its request; errors are plain objects.
import type {
  AutoBudget, AutoOptions, Judged, LayerComparison, Options, PrepareOptions, Runs, Sample, Thresholds,
} from '../octet.js';
import type { Place } from './disk.js';
import type { WorkError } from './error.js';
import type {
  ActivationHistogramsRequest, AutoFound, AutoResult, Calibrated, FileSamples, Inspection, ModelFiles, PreparedModel, Progress, QuantizedModel,
  SamplesRead, Synthetic, TensorHistogram, Timed, WeightHistogramRequest,
} from './types.js';

/** Samples on their way to the worker; those of a stream are asked for one by one. */
export type SentSource =
  | FileSamples | { synthetic: Synthetic } | { samples: Sample[] } | { stream: { total: number | null } };

export interface MeasureRequest {
  reference: ModelFiles;
  candidate: ModelFiles;
  samples: SentSource;
  threads: number;
  runs: number;
  warmup: number;
  seconds: number;
  judging: Pick<Runs, 'plan' | 'calibrated_on'> & Thresholds;
}

export interface Requests {
  inspect: { model: ModelFiles; options: Options };
  prepare: { model: ModelFiles; options: PrepareOptions; output: string; place?: Place };
  quantize: {
    model: ModelFiles; options: Options; ranges?: string; output: string; place?: Place;
    /** For what measures as it goes. */
    search?: { calib?: SentSource; data?: SentSource; threads: number };
  };
  auto: {
    model: ModelFiles; options: AutoOptions; budget: AutoBudget; ranges?: string; log?: string; labels?: string; output: string;
    place?: Place; sources: { calib: SentSource; data?: SentSource }; threads: number;
  };
  calibrate: { model: ModelFiles; options: Options; samples: SentSource; threads: number };
  warmUp: { threads: number };
  measure: MeasureRequest;
  layers: { reference: ModelFiles; candidate: ModelFiles; samples: SentSource; limit: number };
  readSamples: { model: ModelFiles; samples: SentSource; limit: number };
  weightHistogram: { model: ModelFiles } & WeightHistogramRequest;
  activationHistograms: { ranges: string } & ActivationHistogramsRequest;
}

export interface Measured {
  judged: Judged;
  /** Null before it is timed. */
  timed: Timed | null;
  load_ms: { reference: number; candidate: number };
  samples: { description: string; count: number; synthetic: boolean };
  runtime: string;
  clock_ms: number;
}

export interface Replies {
  inspect: Inspection;
  prepare: PreparedModel;
  quantize: QuantizedModel;
  auto: AutoResult;
  calibrate: Calibrated;
  warmUp: null;
  measure: Measured;
  layers: LayerComparison;
  readSamples: SamplesRead;
  weightHistogram: TensorHistogram;
  activationHistograms: TensorHistogram[];
}

export type Kind = keyof Requests;

export type Job = { [K in Kind]: { id: number; kind: K; payload: Requests[K] } }[Kind];

/** The next sample of the stream, null at its end. */
export interface NextSample {
  id: number;
  kind: 'sample';
  sample: Sample | null;
}

/** Ends a search with what it has. */
export interface Stop {
  id: number;
  kind: 'stop';
}

export type ToWorker = Job | NextSample | Stop;

export type FromWorker =
  | { id: number; event: 'progress'; progress: Progress }
  | { id: number; event: 'pull' }
  | { id: number; event: 'partial'; partial: Measured }
  | { id: number; event: 'found'; found: AutoFound }
  | { id: number; event: 'done'; result: Replies[Kind] }
  // `fatal`: the worker is not to be used again.
  | { id: number; event: 'failed'; error: WorkError; fatal: boolean };
