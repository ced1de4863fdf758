// Quantization that measures as it goes: --equalize, --smooth-quant, --bias-correction and --min-sqnr of the command
// line. The core asks for runs, whoever has a runtime answers.

import type { Calibration, Failure, Quantized, Request, Sample, WrittenInMemory } from './octet.js';

/**
 * `options` may have equalize, smooth_quant, bias_correction and min_sqnr, which quantize_model() refuses. The first
 * three are for static mode, which is meant where no mode is given, and each is kept only where it helps; min_sqnr
 * moves the worst nodes towards float until the worst output has that many decibels. `ranges` spare calibrating the
 * model as it is; of the models that steps make of it new ones are asked for.
 */
export type SearchRequest = Omit<Request, 'output' | 'sink'>;

export interface StartedSearch {
  search: Search;
}

/** What comes next. `stage` says in words what it is for, `done` of `total` how far that is. */
export type SearchQuestion = {
  stage: string;
  done: number;
  total: number;
} & (
  | {
      /**
       * Run all samples through `calibration`, just as after start_calibration(), then answer({}). The caller deletes
       * it; that may be before the answer.
       */
      ask: 'calibrate' | 'observe';
      calibration: Calibration;
      /** Names of the values to observe. */
      taps: string[];
    }
  | {
      /**
       * Run check_model() with the runtime's optimizations and the float model without, on the same few samples (the
       * command line takes 4), and hand every pair of outputs to add_outputs(), then answer({}). Where the model does
       * not load or run: answer({ error }). Without any outputs the answer is that it cannot be told.
       */
      ask: 'check';
    }
  | { ask: 'finish' }
);

/**
 * next(), answer(), next() … until it asks to finish(), then that. A question stands until it is answered: next()
 * gives it again. Nothing is written before finish(). delete() gives all back.
 */
export interface Search {
  next(): SearchQuestion | Failure;
  check_model(): WrittenInMemory | Failure;
  /** Outputs of both models for one sample. */
  add_outputs(request: { reference: Sample; candidate: Sample }): { samples: number } | Failure;
  /** `error`: in the runtime's words, why the model does not load or run. */
  answer(request: { error?: string }): object | Failure;
  /** As quantize_model() gives it; what was measured stands in the plan's notes. */
  finish(request: Pick<Request, 'output' | 'sink' | 'progress'>): Finished | Failure;
  delete(): void;
}

export interface Finished extends Quantized {
  /** Nodes that went towards float for min_sqnr, the worst first. */
  changed: string[];
  /** Of the worst output, in dB, as last measured; null where nothing was. */
  sqnr_db: number | null;
  /** Whether min_sqnr is held; null where none was asked for or it cannot be told. */
  reached: boolean | null;
}
