// What goes in and comes out of the package, besides what octet.d.ts and report.d.ts say.
import type {
  AutoState, Judged, Latency, Learned, Options, Plan, Preparation, Report, Sample, Thresholds, ValueHistogram,
} from '../octet.js';
import type { ImageOptions, PictureInput } from '../samples.js';

/** A model as a file, and its external data by the names that the model gives it. */
export interface ModelFiles {
  name: string;
  model: Blob;
  files?: Record<string, Blob>;
}

export interface SampleFile {
  /** A path, with '/' between folders: files that belong together share a folder. */
  name: string;
  blob: Blob;
}

/** Elements of a tensor, as onnxruntime-web's tensors have them, or bytes. */
export interface TensorLike {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: ArrayBufferView | readonly unknown[];
}

/** By input name: tensors of onnxruntime-web, or { type, dims, data }. A single tensor goes to a single input. */
export type SampleLike = Readonly<Record<string, TensorLike>>;

/** Inputs made up from names, types and shapes. What such inputs show of drift and ranges says little. */
export interface Synthetic {
  count?: number;
  seed?: number;
  /** Sizes of dimensions, by their name or INPUT:AXIS. */
  dims?: Record<string, number>;
  /** Inputs that are one value throughout, by name: a number as text. */
  fixed?: Record<string, string>;
}

export interface FileSamples {
  files: SampleFile[];
  /** How pictures become tensors. */
  image?: ImageOptions;
  /** The first of them, in the order of their names or shuffled. */
  limit?: number;
  /** A seed. */
  shuffle?: number;
}

export type SampleSource = FileSamples | { synthetic: Synthetic } | Iterable<SampleLike> | AsyncIterable<SampleLike>;

export type Stage =
  | 'read' | 'prepare' | 'plan' | 'calibrate' | 'search' | 'write' | 'runtime' | 'check' | 'time' | 'layers';

export interface Progress {
  stage: Stage;
  done: number;
  /** Null where it is not known. */
  total: number | null;
  detail?: string;
}

export interface Hooks {
  onProgress?: (progress: Progress) => void;
  /** Heard at any time; the promise is rejected with its reason and nothing is left behind. */
  signal?: AbortSignal;
}

export interface Inspection {
  report: Report;
  /** The external data files that the model reads, under the names it gives them. */
  files: Record<string, Blob>;
}

export interface PreparedModel {
  output: ModelFiles;
  report: Preparation;
}

export interface QuantizedModel {
  output: ModelFiles;
  report: Report;
  /** What calibration learned, where it took place. */
  ranges?: string;
}

/** News of the automatic search: how it stands, and the plans of the candidates that are new. */
export interface AutoFound {
  state: AutoState;
  plans: Plan[];
  /** For a later search; where candidates are new. */
  log?: string;
}

/** What the automatic search chose, and how it came to it. */
export interface AutoResult extends AutoState, QuantizedModel {
  plan: Plan;
  /** All that was measured, as text: with it a later search goes on instead of measuring again. */
  log: string;
}

export interface Calibrated extends Learned {
  /** Names of the values that were observed. */
  taps: string[];
  /** That the model ran in. */
  segments: number;
}

/** Times of interleaved runs, in milliseconds. */
export interface Timed {
  threads: number;
  reference_ms: number[];
  candidate_ms: number[];
  baseline: Latency;
  candidate: Latency;
  speedup: { ratio: number; low: number; high: number };
  /** Each time is the mean of so many runs: more than one where the clock is too coarse for one. */
  runs_per_block: number;
}

export interface Environment {
  runtime: string;
  agent: string;
  cores: number;
  /** Whether the page is cross-origin isolated, without which there is one thread. */
  isolated: boolean;
  threads_available: number;
  /** Why not more. */
  threads_note?: string;
  /** The smallest step of the clock. */
  clock_ms: number;
}

/** Drift and verdict are those of one thread. */
export interface Comparison extends Judged {
  latency_by_threads: Timed[];
  load_ms: { reference: number; candidate: number };
  samples: { description: string; count: number; synthetic: boolean };
  environment: Environment;
}

/** What is known before timing: everything but times, and a verdict without them. */
export type PartialComparison = Omit<Comparison, 'latency'>;

export interface CompareHooks extends Hooks {
  /** Told when the outputs of the first sample were compared, and again when all were and timing begins. */
  onPartial?: (partial: PartialComparison) => void;
}

export interface CompareOptions extends Thresholds {
  /** What the candidate was made by, as the report has it: with it the verdict says why, and what to try next. */
  plan?: Plan;
  /** Samples that it was calibrated on. */
  calibrated_on?: number;
  /** Inputs are made up where there are none. */
  samples?: SampleSource;
  /** One and as many as there are when absent. */
  threads?: number[];
  /** Timed ones of each model, 50 when absent. */
  runs?: number;
  /** 5 when absent. */
  warmup?: number;
  /** After which timing ends early, for each number of threads; 4 when absent. */
  seconds?: number;
}

/** Samples as the model takes them. */
export interface SamplesRead {
  samples: { name: string; tensors: Sample }[];
  /** That the source gives in all, or -1 where only its end would tell. */
  count: number;
  description: string;
  /** Whether the files are pictures. */
  picture: boolean;
  /** What a model takes of a picture, where it takes pictures: for showing its tensors as such. */
  image: PictureInput | null;
}

export interface WeightHistogramRequest {
  /** As the plan names it, which is of the prepared model. */
  tensor: string;
  /** Of the channels, whose ranges are wanted too. */
  axis?: number | null;
  /** 100 when absent. */
  bins?: number;
  /** Those that the plan was made with: they say whether the model is prepared. */
  options?: Options;
}

export interface ActivationHistogramsRequest {
  /** All that calibration saw when absent. */
  tensors?: string[];
  /** 100 when absent. */
  bins?: number;
}

/** How often values occur: equal bins from `low` to `high`. */
export type TensorHistogram = ValueHistogram;
