// Calibration with onnxruntime-web: learns the ranges that static quantization needs. Call it from a worker.
import type { ByteReader, Failure, Learned, OctetModule, Options, Request } from './octet.js';

/** Elements of a tensor; those of the runtime's tensors, or bytes. */
export interface TensorLike {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: ArrayBufferView | readonly unknown[];
}

/** By input name: tensors of onnxruntime-web, or { type, dims, data }. A single tensor goes to a single input. */
export type SampleLike = Readonly<Record<string, TensorLike>>;

export interface RuntimeSession {
  run(feeds: never): Promise<object>;
  release(): Promise<void>;
}

/** What is used of onnxruntime-web; its own module fits. */
export interface Runtime {
  readonly InferenceSession: { create(model: Uint8Array, options?: object): Promise<RuntimeSession> };
  readonly Tensor: new (type: never, data: never, dims?: readonly number[]) => object;
}

/** An AbortSignal. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

export interface CalibrationProgress {
  stage: 'calibrate';
  /** In samples; grows with every segment. */
  done: number;
  /** Null where the number of samples is not known. */
  total: number | null;
}

export interface CalibrationHooks {
  onProgress?: (progress: CalibrationProgress) => void;
  /** Heard between segments and while the next sample is waited for; the promise is rejected with its reason. */
  signal?: Signal;
  /** 'all', the default: ranges serve every static plan of the model. 'plan': only what these options ask for. */
  taps?: 'all' | 'plan';
  /** How many samples there will be, where neither `length` nor `size` of `samples` tells. */
  total?: number;
  /** Bytes of values held at once, besides the weights; 16 MB when absent. */
  memoryBudget?: number;
  /** For the runtime's sessions, e.g. executionProviders; the graph is never optimized. */
  sessionOptions?: object;
}

export interface Calibrated extends Learned {
  taps: string[];
  /** That the model ran in. */
  segments: number;
}

/** Everything that fails but an abort. */
export class OctetError extends Error {
  constructor(error: Failure['error']);
  readonly error: Failure['error'];
}

/** `ranges` of the result go into quantize_model's request. */
export function calibrate(
  octet: OctetModule,
  ort: Runtime,
  model: Uint8Array | ByteReader | Pick<Request, 'name' | 'model' | 'open'>,
  samples: Iterable<SampleLike> | AsyncIterable<SampleLike>,
  options?: Options,
  hooks?: CalibrationHooks,
): Promise<Calibrated>;
