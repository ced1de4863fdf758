// The core as a module. Everything is synchronous: call it from a worker. Nothing is fetched but the module itself.
// Failures are returned; only what a callback of the request throws passes through as it is.

import type { AutoRequest, StartedAuto } from './auto.js';
import type { ActivationHistogramsRequest, Histograms, WeightHistogramsRequest } from './histograms.js';
import type { LayersRequest, StartedLayers } from './layers.js';
import type { PassReport, Plan, Report } from './report.js';
import type { OpenedSamples, OpenSamplesRequest } from './samples.js';
import type { SearchRequest, StartedSearch } from './search.js';

export type * from './auto.js';
export type * from './histograms.js';
export type * from './layers.js';
export type * from './report.js';
export type * from './samples.js';
export type * from './search.js';

export type Mode = 'dynamic' | 'static' | 'weights';
export type Target = 'x64' | 'x64-novnni' | 'arm64' | 'wasm' | 'any';
export type WeightType = 'qint8' | 'quint8' | 'qint4' | 'quint4' | 'qint16' | 'quint16';
export type Action = 'keep' | 'weights' | 'dynamic' | 'static';
/** Of static integer nodes. */
export type Format = 'qdq' | 'qoperator';
export type ActivationType = 'quint8' | 'qint8' | 'quint16' | 'qint16';
/** How the range of an activation is read from what calibration saw. */
export type Method = 'minmax' | 'average' | 'entropy' | 'percentile' | 'mse' | 'best';
export type Form = 'fold' | 'dequantize' | 'blocks' | 'gather';

/** The command line's options in snake_case; what is absent takes its default. */
export interface Options {
  mode?: Mode;
  /** Where the model will run; 'wasm' when absent. */
  target?: Target;
  weight_type?: WeightType;
  /** Absent: wherever it is exact for the operator. */
  per_channel?: boolean;
  reduce_range?: boolean;
  /** Static mode: how integer nodes are written. */
  format?: Format;
  activation_type?: ActivationType;
  symmetric_activations?: boolean;
  /** Static mode: what MatMul and Gemm give is rounded also where no integer node reads it. */
  round_outputs?: boolean;
  method?: Method;
  /** For the methods 'percentile' and 'best'. */
  percentile?: number;
  block_size?: number;
  /** Names, globs (* ?) or op:TYPE. */
  nodes_to_quantize?: string[];
  nodes_to_exclude?: string[];
  op_types?: string[];
  /** What only a search can grant, see SearchRequest: neighbouring products share the spread of their weights, */
  equalize?: boolean;
  /** part of the spread between channels goes from activations into weights (0 to 1, of which 0 is none), */
  smooth_quant?: number;
  /** products get back what rounding takes from them on average, */
  bias_correction?: boolean;
  /** and the worst output has at least so many decibels. */
  min_sqnr?: number;
  /** Fold, clean up and fuse first; true when absent. A plan that is given decides for itself. */
  prepare?: boolean;
  /** Use this plan instead of making one. */
  plan?: Plan;
  /** Weights in a file of their own, OUTPUT.data. */
  external_data?: boolean;
}

/** Bytes read piece by piece, e.g. from a File: `read` gives exactly `length` bytes, or null when it cannot. */
export interface ByteReader {
  readonly size: number;
  read(offset: number, length: number): Uint8Array | null;
}

/** Bytes written in order. `bytes` is a view of the module's memory: it is not to be kept after the call. */
export interface ByteWriter {
  write(bytes: Uint8Array): void;
}

export interface Request {
  /** File name of the model, for messages and the report; no path. */
  name?: string;
  model: Uint8Array | ByteReader;
  /** Finds an external data file by the location that the model gives it; null when there is none. */
  open?: (location: string) => Uint8Array | ByteReader | null;
  options?: Options;
  /** What calibration learned, as text or parsed: for static mode, which is meant where no mode is given. */
  ranges?: string | object;
  /** File name of the output; its external data is called the same with ".data" added. */
  output?: string;
  /**
   * Takes a part of the output piece by piece, for example into a file of the origin private file system; null leaves
   * that part to memory. Asked for once the size is known, before the first piece.
   */
  sink?: (part: 'model' | 'external', size: number) => ByteWriter | null;
  /** Told in bytes what is done of a stage. */
  progress?: (stage: 'plan' | 'write', done: number, total: number) => void;
}

export type ErrorCode =
  | 'internal' | 'usage' | 'read' | 'malformed' | 'unsupported' | 'write' | 'data' | 'non_finite' | 'run' | 'quality'
  | 'interrupted';

export interface Failure {
  error: {
    code: ErrorCode;
    /** The file, node or tensor; may be empty. */
    where: string;
    problem: string;
    /** What to do about it; may be empty. */
    next: string;
    /** All three in one line. */
    message: string;
    /** What the command line would end with. */
    exit_status: number;
  };
}

/** A model as a file, and its external data where it has some. */
export interface Written {
  /** Absent where a sink took it, and so is `external`. */
  model?: Uint8Array;
  external?: Uint8Array;
  external_name?: string;
  model_bytes: number;
  external_bytes: number;
}

export interface WrittenInMemory extends Written {
  model: Uint8Array;
}

export interface Quantized extends Written {
  report: Report;
}

/** The command line's options of prepare; what is absent is not done. */
export interface PrepareOptions {
  /** Inputs that become constants: a number, or several separated by commas, by name. */
  fixed?: Record<string, string>;
  /** Sizes of dimensions from now on, by their name or INPUT:AXIS. */
  dims?: Record<string, number>;
  opset?: number;
  /** float16 and bfloat16 become float32; inputs and outputs keep their types. */
  to_float32?: boolean;
  /** Only these passes, in this order. */
  passes?: string[];
}

export interface PrepareRequest extends Omit<Request, 'options'> {
  options?: PrepareOptions;
}

export interface Preparation {
  nodes: { before: number; after: number };
  bytes: { before: number; after: number };
  opsets: Record<string, number>;
  operators: Record<string, number>;
  passes: PassReport[];
  /** Of the values between nodes; shaped: every dimension a number or an expression of names. */
  shapes: { values: number; typed: number; ranked: number; shaped: number; missing: string[]; note: string };
}

export interface Prepared extends Written {
  report: Preparation;
}

export interface Inspected {
  report: Report;
}

/**
 * A tensor that goes into or comes out of a model; `type` as numpy names it, `data` row-major and little-endian. The
 * module gives bytes and takes any typed array, and so onnxruntime-web's tensors too.
 */
export interface TensorValue {
  type: string;
  dims: number[];
  data: Uint8Array;
}

export type Sample = Record<string, TensorValue>;

/** Inputs made up from names, types and shapes; the same seed gives the same everywhere. */
export interface SamplesRequest extends Pick<Request, 'name' | 'model' | 'open'> {
  count?: number;
  seed?: number;
  /** Sizes of dimensions, by their name or INPUT:AXIS. */
  dims?: Record<string, number>;
  /** Inputs that are one value throughout, by name: a number as text. */
  fixed?: Record<string, string>;
  /** For every open dimension that is neither a batch nor a channel. */
  free_size?: number;
}

export interface Samples {
  samples: Sample[];
  description: string;
  /** Values of free_size worth trying where the model does not run with these samples. */
  sizes_to_try: number[];
}

export interface CalibrationRequest extends Omit<Request, 'output'> {
  /** 'all', the default: ranges serve every static plan of the model. 'plan': only what these options ask for. */
  taps?: 'all' | 'plan';
}

export interface StartedCalibration {
  calibration: Calibration;
  /** Names of the values to observe. */
  taps: string[];
}

/** A part of the prepared model; all names are of its values. */
export interface Segment {
  /** Inputs of the model, and outputs of earlier segments. */
  inputs: string[];
  /** What the segment's model gives. */
  outputs: string[];
  /** Those of the outputs to be handed to observe(). */
  observed: string[];
  /** Values that nobody reads after this segment. */
  dropped: string[];
}

export interface Learned {
  /** JSON text: keep it, merge it, or pass it to quantize_model. */
  ranges: string;
  samples: number;
  /** Tensors with values that were NaN or infinite; those are left out. */
  notes: string[];
  /** What to know of calibrating on so few samples; empty where there are enough. */
  hint: string;
}

/**
 * Calibration in steps; lib/calibrate.ts makes them with onnxruntime-web. For every sample: begin_sample(), then for
 * every segment run its model, observe() what it is to show and drop what nobody reads any more, then end_sample().
 * Segments are planned once a sample has begun, and again when its values turn out larger. delete() gives all back.
 */
export interface Calibration {
  /** Checks a sample and brings it into the types of the model's inputs; observes those. `name` is for messages. */
  begin_sample(request: { sample: Sample; name?: string }): { sample: Sample } | Failure;
  /**
   * Cuts the model so that what is alive at the end of a segment keeps within `budget` bytes; without one there is one
   * segment. `sizes`: bytes that values really took, by name. Without taps besides the inputs there is no segment.
   */
  plan_segments(request: { budget?: number; sizes?: Record<string, number> }): { segments: Segment[] } | Failure;
  /** To be run without graph optimizations, which would do away with values. */
  segment_model(index: number): WrittenInMemory | Failure;
  /** What is no float tensor is not observed; empty tensors count for nothing. */
  observe(name: string, tensor: TensorValue): { observed: boolean } | Failure;
  end_sample(): { samples: number } | Failure;
  /** Forgets all that was observed. */
  forget(): object | Failure;
  learned(): Learned | Failure;
  delete(): void;
}

export interface MergedRanges {
  ranges: string;
  samples: number;
}

/** Outputs of both models for the same inputs, and the times of interleaved runs. */
export interface Runs {
  runs: { reference: Sample; candidate: Sample }[];
  reference_ms: number[];
  candidate_ms: number[];
  input_bytes: number;
  output_bytes: number;
  /** Whether the inputs were made up: drift then says little. */
  synthetic: boolean;
  /** What the candidate was made from: with it the verdict says why, and what to try next. */
  plan?: Plan;
  /** Samples that it was calibrated on, where that is known. */
  calibrated_on?: number;
  /** The floor of the worst output in dB; 10 when absent. */
  min_sqnr?: number;
  /** What shrank less than this has to be faster to be worth it; 1.1 when absent. */
  min_smaller?: number;
  /** A speedup whose whole interval lies below this is a loss; 0.95 when absent, at most 1. */
  slower?: number;
  /** And one whose whole interval lies above this a gain; 1.05 when absent, at least 1. */
  faster?: number;
}

/** What a verdict goes by. */
export type Thresholds = Pick<Runs, 'min_sqnr' | 'min_smaller' | 'slower' | 'faster'>;

export interface Drift {
  name: string;
  comparable: boolean;
  why_not?: string;
  finite: boolean;
  /** 200 where all elements are equal; null where it is no number. */
  sqnr_db: number | null;
  cosine: number | null;
  max_abs_error: number | null;
  max_abs: number | null;
  top1_agreement?: number | null;
  elements: number;
}

export interface Latency {
  runs: number;
  median_ms: number;
  mean_ms: number;
  min_ms: number;
  max_ms: number;
  p90_ms: number;
  stddev_ms: number;
  mad_ms: number;
}

export type AdviceCode =
  | 'static' | 'weights' | 'dynamic' | 'per_channel' | 'method' | 'keep_layers' | 'more_samples' | 'real_samples'
  | 'activations16' | 'activations8' | 'unsigned_activations' | 'fold' | 'bits8' | 'time_again' | 'train';

export interface Verdict {
  judgement: 'ship' | 'dont' | 'cannot_tell';
  /** The figure that decided. */
  decided_by: 'drift' | 'speed' | 'size' | 'nothing';
  sentence: string;
  /** Of what decided, a sentence; empty without a plan, and where there is nothing to explain. */
  why: string;
  /** What to try, most promising first. */
  next: { code: AdviceCode; text: string }[];
}

export interface Judged {
  drift: Drift[];
  worst_sqnr_db: number;
  latency?: { baseline: Latency; candidate: Latency; speedup: { ratio: number; low: number; high: number } };
  verdict: Verdict;
}

export interface OctetModule {
  version(): string;
  /** Memory that the module holds right now; the same before and after a call. */
  allocated_bytes(): number;
  /** What quantize_model() would do, and the size it would give, without writing it. */
  inspect_model(request: Request): Inspected | Failure;
  quantize_model(request: Request): Quantized | Failure;
  /** Folds, cleans up and fuses without changing what the model computes. */
  prepare_model(request: PrepareRequest): Prepared | Failure;
  /** Begins to learn the ranges of activations that static mode needs. */
  start_calibration(request: CalibrationRequest): StartedCalibration | Failure;
  /** Adds up what was learned on parts of a data set: the same as one run over all of it. */
  merge_ranges(parts: (string | object)[]): MergedRanges | Failure;
  /** How stored weights are spread, channel by channel too. */
  weight_histograms(request: WeightHistogramsRequest): Histograms | Failure;
  /** How the values that calibration saw are spread. */
  activation_histograms(request: ActivationHistogramsRequest): Histograms | Failure;
  make_samples(request: SamplesRequest): Samples | Failure;
  /** Groups files into samples of the model. */
  open_samples(request: OpenSamplesRequest): OpenedSamples | Failure;
  /** Begins to look where a quantized model loses. */
  start_layers(request: LayersRequest): StartedLayers | Failure;
  /** Begins a quantization that measures as it goes. */
  start_search(request: SearchRequest): StartedSearch | Failure;
  /** Begins to look for the fastest model within a budget of drift. */
  start_auto(request: AutoRequest): StartedAuto | Failure;
  /** Drift, latency and the verdict, by the formulas of the command line. */
  judge_runs(request: Runs): Judged | Failure;
}

export interface ModuleOptions {
  /** The module's .wasm, where it is not to be fetched from beside the script. */
  wasmBinary?: ArrayBuffer | Uint8Array;
}

export default function createOctet(options?: ModuleOptions): Promise<OctetModule>;
