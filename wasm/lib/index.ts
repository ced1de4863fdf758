// Octet for web pages: quantizes ONNX models in workers and shows what it cost. Nothing leaves the page.
import type { AutoBudget, AutoCandidate, AutoOptions, AutoState, LayerComparison, Options, Plan, PrepareOptions } from '../octet.js';
import { WorkClient } from './client.js';
import { compareIn } from './compare.js';
import { Disk, hasDisk, LARGE } from './disk.js';
import type { Place } from './disk.js';
import { failure } from './error.js';
import { bytesOf } from './readers.js';
import { sentList, sentModel, sentStream } from './sent.js';
import type {
  ActivationHistogramsRequest, AutoFound, AutoResult, Calibrated, CompareHooks, CompareOptions, Comparison, Hooks, Inspection, ModelFiles,
  PreparedModel, QuantizedModel, SampleSource, SamplesRead, TensorHistogram,
  WeightHistogramRequest,
} from './types.js';

export { discard } from './disk.js';
export { failure, OctetError } from './error.js';
export { bytesOf, LARGEST_TO_RUN } from './readers.js';
export type { WorkError } from './error.js';
export type * from './types.js';
export type {
  Action, ActivationType, AdviceCode, AutoBudget, AutoCandidate, AutoOptions, AutoSensitivity, AutoState, Drift, ErrorCode, Facts, Failure, Form, Format, Judged, Latency,
  LayerComparison, Method, Mode, Options, PassReport, Plan, PlannedActivation, PlannedNode, PlannedTensor,
  Preparation, PrepareOptions, Report, Sample, Sizes, StoredTensor, Target, TensorValue, Thresholds, Value, ValueDrift, Verdict,
  WeightType,
} from '../octet.js';
export type { ImageOptions, PictureInput } from '../samples.js';

export interface OctetOptions {
  /** For pages whose bundler does not find the package's worker: starts `octet-wasm/worker` as a module. */
  createWorker?: () => Worker;
  /** Of the runtime while calibrating, 1 when absent; more than one only where the page is cross-origin isolated. */
  threads?: number;
}

export interface QuantizeOptions extends Options {
  /** What calibration learned, as text: for static mode. */
  ranges?: string;
  /** Calibrates on these first, which makes the model static. */
  calib?: SampleSource;
  /** What min_sqnr and the like are checked on; calib, or made-up inputs, when absent. */
  data?: SampleSource;
  /** File name of the output; its external data is called the same with ".data" added. */
  output?: string;
  /**
   * Where the output goes: blobs in memory, or files of the origin private file system, there until discard() or until
   * the page is gone. Absent: what is above 64 MB goes to disk, where the browser has one.
   */
  store?: Store;
}

export interface AutoRequest {
  /** Samples of what the model will meet: ranges are learned from them. */
  calib: SampleSource;
  /** Samples that candidates are judged on, the first 16, with max_drop 100; calib when absent. */
  data?: SampleSource;
  budget?: AutoBudget;
  options?: AutoOptions;
  /** What calibration learned, as text: spares learning it again. */
  ranges?: string;
  /** Of an earlier search with the same model, samples and labels in this browser. */
  log?: string;
  /** A labels.json, or its text: right answers for `data`. */
  labels?: Blob | string;
  output?: string;
  store?: Store;
}

export interface AutoHooks extends Hooks {
  /** Told of each candidate once it is timed, with its plan, and how the search stands. */
  onCandidate?: (candidate: AutoCandidate & { plan: Plan }, state: AutoState & { log?: string }) => void;
  /** Told after each measurement. */
  onState?: (state: AutoState) => void;
  /** Ends the search with the best so far; `signal` ends it with nothing. */
  stop?: AbortSignal;
}

export type Store = 'memory' | 'disk';

export interface LayerOptions {
  /** Inputs are made up where there are none. */
  samples?: SampleSource;
  /** At most so many samples, 8 when absent. */
  limit?: number;
}

type Model = Blob | ModelFiles;

// Options that take runs of the model.
const SEARCHES = ['equalize', 'smooth_quant', 'bias_correction', 'min_sqnr'] as const;

const startWorker = () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'octet' });

const renamed = (name: string, ending: string) => `${name.replace(/\.onnx$/i, '')}.${ending}.onnx`;

/**
 * Work in the background. Calls are done one after the other, comparisons beside the rest; an abort ends the worker at
 * once, and the next call starts another. close() ends all of it.
 */
export class Octet {
  readonly #core: WorkClient;
  readonly #timing: (threads: number) => WorkClient;
  readonly #clients: WorkClient[] = [];
  readonly #threads: number;
  readonly #disk = new Disk();

  constructor({ createWorker = startWorker, threads = 1 }: OctetOptions = {}) {
    const started = () => {
      const client = new WorkClient(createWorker);
      this.#clients.push(client);
      return client;
    };
    this.#threads = globalThis.crossOriginIsolated ? threads : 1;
    this.#core = started();
    this.#disk.clean();
    const timing = new Map<number, WorkClient>();
    this.#timing = (count) => {
      const client = timing.get(count) ?? started();
      timing.set(count, client);
      return client;
    };
  }

  /** What the model is, what quantize() would do with it, and the size it would give. */
  async inspect(model: Model, options: Options = {}, hooks: Hooks = {}): Promise<Inspection> {
    return this.#core.run('inspect', { model: sentModel(model), options }, hooks);
  }

  /** Folds, cleans up and fuses without changing what the model computes. */
  async prepare(
    model: Model, { output, store, ...options }: PrepareOptions & { output?: string; store?: Store } = {},
    hooks: Hooks = {},
  ): Promise<PreparedModel> {
    const sent = sentModel(model);
    const request = { model: sent, options, output: output ?? renamed(sent.name, 'prepared') };
    return this.#stored(sent, store, (place) => this.#core.run('prepare', { ...request, place }, hooks));
  }

  /** Learns the ranges of activations, which serve every static plan of the model. */
  async calibrate(model: Model, samples: SampleSource, options: Options = {}, hooks: Hooks = {}): Promise<Calibrated> {
    const { samples: source, stream } = sentStream(samples);
    const request = { model: sentModel(model), options, samples: source, threads: this.#threads };
    return this.#core.run('calibrate', request, hooks, stream);
  }

  async quantize(
    model: Model, { ranges, calib, data, output, store, ...options }: QuantizeOptions = {}, hooks: Hooks = {},
  ): Promise<QuantizedModel> {
    const sent = sentModel(model);
    // A search runs its samples several times.
    const measured = SEARCHES.some((key) => options[key] !== undefined && options[key] !== false);
    const known = async (source?: SampleSource) => source && (measured ? sentList(source, Infinity) : undefined);
    const sources = { calib: await known(calib), data: await known(data) };
    const search = measured ? { ...sources, threads: this.#threads } : undefined;
    const { equalize: _e, smooth_quant: _s, bias_correction: _b, min_sqnr: _m, ...plain } = options;
    const learn = (source: SampleSource) => this.calibrate(sent, source, { ...plain, mode: 'static' }, hooks);
    const again = search?.calib && 'samples' in search.calib ? search.calib.samples : calib;
    const learned = again && (await learn(again)).ranges;
    const request = {
      model: sent, options, ranges: learned ?? ranges, output: output ?? renamed(sent.name, 'int8'), search,
    };
    const made = await this.#stored(sent, store, (place) => this.#core.run('quantize', { ...request, place }, hooks));
    return learned === undefined ? made : { ...made, ranges: learned };
  }

  /**
   * The fastest model within a budget of drift, found by measuring what leaving nodes in float, other forms and other
   * modes bring here. Rejected with code 'quality' where nothing keeps the budget.
   */
  async auto(
    model: Model, { calib, data, budget = {}, options = {}, ranges, log, labels, output, store }: AutoRequest,
    { onCandidate, onState, ...hooks }: AutoHooks = {},
  ): Promise<AutoResult> {
    const sent = sentModel(model);
    if (!calib) throw failure('usage', 'needs samples to run the model on', 'give calib', 'auto');
    const sources = { calib: await sentList(calib, Infinity), data: data && (await sentList(data, Infinity)) };
    const request = {
      model: sent, options, budget, ranges, log, output: output ?? renamed(sent.name, 'auto'), sources,
      labels: labels instanceof Blob ? await labels.text() : labels,
      threads: this.#threads,
    };
    const onFound = ({ state, plans, log }: AutoFound) => {
      const known = state.candidates.length - plans.length;
      plans.forEach((plan, i) => onCandidate?.({ ...state.candidates[known + i]!, plan }, { ...state, log }));
      onState?.(state);
    };
    const work = (place?: Place) => this.#core.run('auto', { ...request, place }, { ...hooks, onFound });
    return this.#stored(sent, store, work);
  }

  /** Starts what compare() runs in, so that its first result comes sooner; it needs not be called. */
  async warmUp(): Promise<void> {
    await this.#timing(1).run('warmUp', { threads: 1 });
  }

  /** Outputs of both models on the same inputs, their times side by side, and what to make of it. */
  async compare(
    reference: Model, candidate: Model, options: CompareOptions = {}, hooks: CompareHooks = {},
  ): Promise<Comparison> {
    return compareIn(this.#timing, sentModel(reference), sentModel(candidate), options, hooks);
  }

  /** Where the candidate loses: all values that are rounded and all weights, against the reference; the worst first. */
  async compareLayers(
    reference: Model, candidate: Model, options: LayerOptions = {}, hooks: Hooks = {},
  ): Promise<LayerComparison> {
    const { samples = { synthetic: {} }, limit = 8 } = options;
    const models = { reference: sentModel(reference), candidate: sentModel(candidate) };
    return this.#core.run('layers', { ...models, samples: await sentList(samples, limit), limit }, hooks);
  }

  /** The first samples of a source as the model will take them. */
  async readSamples(
    model: Model, source: SampleSource, { limit = Infinity }: { limit?: number } = {}, hooks: Hooks = {},
  ): Promise<SamplesRead> {
    const { samples, stream } = sentStream(source);
    return this.#core.run('readSamples', { model: sentModel(model), samples, limit }, hooks, stream);
  }

  /** How a stored weight is spread. */
  async weightHistogram(model: Model, request: WeightHistogramRequest, hooks: Hooks = {}): Promise<TensorHistogram> {
    return this.#core.run('weightHistogram', { model: sentModel(model), ...request }, hooks);
  }

  /** How the values are spread that calibration saw. */
  async activationHistograms(
    ranges: string, request: ActivationHistogramsRequest = {}, hooks: Hooks = {},
  ): Promise<TensorHistogram[]> {
    return this.#core.run('activationHistograms', { ranges, ...request }, hooks);
  }

  // Files are made before their size is known: only where the input lets expect a large output.
  #stored<T extends { output: ModelFiles }>(
    input: ModelFiles, store: Store | undefined, work: (place?: Place) => Promise<T>,
  ): Promise<T> {
    const large = store === undefined && bytesOf(input) > LARGE && hasDisk();
    if (store !== 'disk' && !large) return work();
    if (!hasDisk()) throw failure('write', 'this page has no file system of its own', "use store: 'memory'", 'output');
    return this.#disk.keep(store === 'disk' ? 0 : LARGE, work);
  }

  /** Ends the workers. What is under way is rejected. */
  close() {
    for (const client of this.#clients) client.close();
  }
}

let shared: Octet | undefined;
const common = () => (shared ??= new Octet());

// The same on one Octet that all share.
export const inspect: Octet['inspect'] = (...given) => common().inspect(...given);
export const prepare: Octet['prepare'] = (...given) => common().prepare(...given);
export const calibrate: Octet['calibrate'] = (...given) => common().calibrate(...given);
export const quantize: Octet['quantize'] = (...given) => common().quantize(...given);
export const auto: Octet['auto'] = (...given) => common().auto(...given);
export const compare: Octet['compare'] = (...given) => common().compare(...given);
export const compareLayers: Octet['compareLayers'] = (...given) => common().compareLayers(...given);
export const readSamples: Octet['readSamples'] = (...given) => common().readSamples(...given);
export const weightHistogram: Octet['weightHistogram'] = (...given) => common().weightHistogram(...given);
export const activationHistograms: Octet['activationHistograms'] = (...given) =>
  common().activationHistograms(...given);
