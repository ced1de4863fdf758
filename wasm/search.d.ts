// Quantization that measures as it goes: --equalize, --smooth-quant, --bias-correction and --min-sqnr of the command
// line. The core asks for runs, whoever has a runtime answers.

import type { Calibration, Failure, Quantized, Request, Sample, Written } from './octet.js';

/**
 * `options` with equalize, smooth_quant, bias_correction and min_sqnr, all of which quantize_model() refuses. Each of
 * the first three is kept only where it helps; `min_sqnr` moves the worst nodes towards float until the worst output
 * has that many decibels. `ranges` spare the first calibration, though not those of changed models.
 */
export type SearchRequest = Omit<Request, 'output' | 'sink'>;

export interface StartedSearch {
  search: Search;
}

/** What comes next. `stage` says in words what it is for, `done` of `total` how far the search is there. */
export type SearchQuestion = {
  stage: string;
  done: number;
  /** Null where it is not known. */
  total: number | null;
} & (
  | {
      /** Run samples through `calibration`, just as for start_calibration(), then answer({}). Deleted by the caller. */
      ask: 'calibrate' | 'observe';
      calibration: Calibration;
      /** Names of the values to observe. */
      taps: string[];
    }
  | {
      /**
       * Run check_model() with the runtime's optimizations, the float model without, both on the same few samples (the
       * command line takes 4), hand every pair of outputs to add_outputs(), then answer({}); where the model does not
       * load or run, answer({ error }).
       */
      ask: 'check';
    }
  | { ask: 'finish' }
);

/**
 * next(), answer(), next() … until it asks to finish(), then that. A question stands until it is answered: next()
 * gives it again. delete() gives all back; nothing is written before finish().
 */
export interface Search {
  next(): SearchQuestion | Failure;
  /** The model that is to be checked; `sink` and `output` as of quantize_model(). */
  check_model(request: Pick<Request, 'output' | 'progress'>): Written | Failure;
  /** Outputs of both models for one sample. */
  add_outputs(request: { reference: Sample; candidate: Sample }): { samples: number } | Failure;
  /** `error`: in the runtime's words, why the model does not load or run. */
  answer(request: { error?: string }): object | Failure;
  /** As quantize_model() gives it; what was measured stands in the plan's notes. */
  finish(request: Pick<Request, 'output' | 'progress'>): Finished | Failure;
  delete(): void;
}

export interface Finished extends Quantized {
  /** Nodes that went towards float for min_sqnr, the worst first. */
  changed: string[];
  /** Of the worst output, as last measured; null where nothing was. */
  sqnr_db: number | null;
  /** Whether min_sqnr is held; null where none was asked for. */
  reached: boolean | null;
}
