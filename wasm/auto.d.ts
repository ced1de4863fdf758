// The fastest model within a budget of drift, found by measuring: `octet auto` of the command line. The core says what
// to run, whoever has a runtime runs it.

import type { Calibration, Failure, Options, Plan, Request, Sample, WrittenInMemory } from './octet.js';

/** What the search does not decide itself. */
export type AutoOptions =
  Pick<Options, 'target' | 'nodes_to_quantize' | 'nodes_to_exclude' | 'op_types' | 'external_data'>;

export interface AutoBudget {
  /** Of the worst output, in dB; 25 when absent. */
  min_sqnr?: number;
  /** Instead of it: right answers lost, in percent of all; needs `labels`. */
  max_drop?: number;
  /** Of the file. */
  max_bytes?: number;
  /** Against the float model, the median of paired runs. */
  min_speedup?: number;
  /** Of measuring, after which the best so far is taken; 120 when absent. */
  seconds?: number;
}

/** `ranges` spare calibrating the model as it is. */
export interface AutoRequest extends Omit<Request, 'output' | 'sink' | 'options'> {
  options?: AutoOptions;
  budget?: AutoBudget;
  /** What an earlier search wrote: what it measured is not measured again. */
  log?: string;
  /** Text of a labels.json: right answers for the samples that outputs are judged on. */
  labels?: string;
  /** What answers depend on besides the model: samples, threads, machine. A log of another context is refused. */
  context?: string;
}

export interface StartedAuto {
  search: AutoSearch;
}

/** What comes next. `stage` says in words what it is for, `done` of `total` how far that is. */
export type AutoQuestion = {
  stage: string;
  done: number;
  total: number;
} & (
  | {
      /** As in a search, see SearchQuestion: run all samples through `calibration`, then answer({}). */
      ask: 'calibrate' | 'observe';
      calibration: Calibration;
      taps: string[];
    }
  | {
      /**
       * Run candidate_model() with the runtime's optimizations and the float model without, hand every pair of outputs
       * to add_outputs(), then answer(). How many samples: for a 'glance' the command line takes 4, else 16. 'speed'
       * and 'confirm' (for longer) want times too, of both models in turn and both optimized. Where the model does not
       * load or run: answer({ error }).
       */
      ask: 'measure';
      effort: 'glance' | 'drift' | 'speed' | 'confirm';
    }
  | { ask: 'nothing' }
);

export interface AutoAnswer {
  /** In the runtime's words, why the model does not load or run. */
  error?: string;
  /** Times of interleaved runs, in milliseconds. */
  reference_ms?: number[];
  candidate_ms?: number[];
}

/** What was timed, by its figures. */
export interface AutoCandidate {
  /** In words. */
  what: string;
  /** The fastest that keeps the budget; float where nothing else does. */
  chosen: boolean;
  /** None of the others is smaller, faster and nearer. */
  front: boolean;
  /** Nodes that left the integers of what it was made from. */
  moved: string[];
  conversions: number;
  is_float: boolean;
  /** Whether it was timed for longer. */
  confirmed: boolean;
  /** Loads, runs, and gives finite numbers where the float model does. */
  runs: boolean;
  /** Why not. */
  error?: string;
  bytes: number;
  samples: number;
  /** Of the worst output over all samples; -200 where it does not run, 200 where all is equal. */
  sqnr_db: number;
  /** Lowest and highest of single samples. */
  sqnr_interval_db: number[];
  /** Right answers lost, in percent of all, where there are labels. */
  drop?: number;
  speedup?: { ratio: number; low: number; high: number };
  /** Medians. */
  float_ms?: number;
  candidate_ms?: number;
  /** That measuring it took, with what was planned and calibrated for it. */
  seconds: number;
}

/** What nodes cost, measured. A block is a stretch of nodes that were looked at together. */
export interface AutoSensitivity {
  nodes: string[];
  /** SQNR of the model with these alone quantized, */
  alone_db: number;
  /** and with these alone in float. */
  without_db?: number;
  /** What calibration alone let expect of alone_db. */
  expected_db?: number;
}

export interface AutoState {
  /** In the order of trying. */
  candidates: AutoCandidate[];
  /** Which of them; null before anything ran, and where none keeps the budget. */
  chosen: number | null;
  /** What would be chosen with another floor: up to `up_to` dB, and above that of the entry before, `candidate`. */
  choices: { up_to: number; candidate: number | null }[];
  /** With max_drop: where so many right answers may be lost, and up to the entry after. */
  choices_by_drop?: { from: number; candidate: number | null }[];
  /** The worst first. */
  sensitivities: AutoSensitivity[];
  /** What was tried, and why it is as it is, a line each. */
  account: string[];
  /** Why no candidate keeps to the size or speed asked for; empty where one does. */
  unmet: string;
  ended_early: string | null;
  /** Candidates measured at all, also without timing them. */
  tried: number;
  /** That measuring took. */
  seconds: number;
}

/**
 * next(), answer(), next() … until there is nothing to ask. A question stands until it is answered: next() gives it
 * again. What is chosen then comes of its plan: quantize_model({ …, options: { plan } }). delete() gives all back.
 */
export interface AutoSearch {
  next(): AutoQuestion | Failure;
  candidate_model(): WrittenInMemory | Failure;
  /** Outputs of both models for one sample; for labels its file's name, or its place among all by name. */
  add_outputs(request: { reference: Sample; candidate: Sample; name?: string; place?: number }): { samples: number } | Failure;
  answer(request: AutoAnswer): object | Failure;
  /** Ends the search with what it has; the question that stands is dropped. */
  stop(): object | Failure;
  state(): AutoState | Failure;
  /** Of a candidate. */
  plan(index: number): { plan: Plan } | Failure;
  /** JSON text of all that was measured, for a later search. */
  log(): { log: string } | Failure;
  delete(): void;
}
