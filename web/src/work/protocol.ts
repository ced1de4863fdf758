// What page and worker tell each other. Every message carries the id of its request; errors are plain objects.
import type { Failure, Judged, Options, Report } from 'octet-core';

/** A model as the user gave it: blobs cross by reference and are read piece by piece. */
export interface ModelSource {
  name: string;
  model: Blob;
  /** External data and whatever else was given, by file name. */
  files: Record<string, Blob>;
}

export interface Requests {
  inspect: { source: ModelSource; options: Options };
  quantize: { source: ModelSource; options: Options; output: string };
  /** `samples` are .npz files; without any, inputs are made up. */
  measure: { source: ModelSource; candidate: ModelSource; samples: Blob[] };
}

export interface Inspected {
  report: Report;
  /** The external data files that the model reads, under the names it gives them. */
  files: Record<string, Blob>;
}

export interface Quantized {
  candidate: ModelSource;
  report: Report;
}

export interface Measured extends Judged {
  runtime: string;
  inputs: string;
  synthetic: boolean;
  reference_ms: number[];
  candidate_ms: number[];
}

export interface Replies {
  inspect: Inspected;
  quantize: Quantized;
  measure: Measured;
}

export type Kind = keyof Requests;

export type Stage = 'plan' | 'write' | 'runtime' | 'check' | 'time';

export interface Progress {
  stage: Stage;
  done: number;
  total: number;
}

/** Which of the core's errors it is, and the external data file that is missing, if that is what is wrong. */
export type WorkError = Failure['error'] & { missing?: string };

export type ToWorker = { [K in Kind]: { id: number; kind: K; payload: Requests[K] } }[Kind];

export type FromWorker =
  | { id: number; event: 'progress'; progress: Progress }
  | { id: number; event: 'done'; result: Replies[Kind] }
  | { id: number; event: 'failed'; error: WorkError };

/** A WorkError on its way through exceptions. */
export class WorkFailure extends Error {
  constructor(readonly error: WorkError) {
    super(error.message);
  }
}

export function failure(code: WorkError['code'], problem: string, next = '', where = ''): WorkFailure {
  const message = [where && `${where}: `, problem, next && `; ${next}`].join('');
  return new WorkFailure({ code, where, problem, next, message, exit_status: 70 });
}
