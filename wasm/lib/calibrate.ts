// Runs samples through a model with onnxruntime-web, segment by segment, and has the core look at what flows between
// its nodes. Memory holds what is alive at the end of a segment, however many samples and values there are. In a worker;
// needs nothing of a browser.
import type { ByteReader, Calibration, OctetModule, Options, Request, Segment, TensorValue } from '../octet.js';
import { checked, failure, OctetError } from './error.js';
import { ARRAYS, asFailure, toTensor } from './tensors.js';
import type { HasTensors } from './tensors.js';
import type { Calibrated, SampleLike } from './types.js';

export { OctetError } from './error.js';
export type { Calibrated, SampleLike, TensorLike } from './types.js';

// Bytes alive at once, besides the weights.
const MEMORY_BUDGET = 16 * 2 ** 20;
// Samples may be this much larger than what was planned for before the plan is made anew.
const OVER_BUDGET = 1.25;

export interface RuntimeSession {
  run(feeds: never): Promise<object>;
  release(): Promise<void>;
}

/** What is used of onnxruntime-web; its own module fits. */
export interface Runtime extends HasTensors {
  readonly InferenceSession: { create(model: Uint8Array, options?: object): Promise<RuntimeSession> };
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
  signal?: AbortSignal;
  /** 'all', the default: ranges serve every static plan of the model. 'plan': only what these options ask for. */
  taps?: 'all' | 'plan';
  /** How many samples there will be, where neither `length` nor `size` of `samples` tells. */
  total?: number;
  /** Bytes of values held at once, besides the weights; 16 MB when absent. */
  memoryBudget?: number;
  /** For the runtime's sessions, e.g. executionProviders; the graph is never optimized. */
  sessionOptions?: object;
}

type Samples = Iterable<SampleLike> | AsyncIterable<SampleLike>;
type Live = Map<string, TensorValue>;

const isRunFault = (fault: unknown) => fault instanceof OctetError && fault.error.code === 'run';

// Rejected when the signal says stop, even where next() hangs.
type Next = Iterator<SampleLike> | AsyncIterator<SampleLike>;

function nextOf(iterator: Next, signal?: AbortSignal): Promise<IteratorResult<SampleLike>> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal!.reason);
    signal?.addEventListener('abort', stop);
    const forget = () => signal?.removeEventListener('abort', stop);
    Promise.resolve().then(() => iterator.next()).then(resolve, reject).finally(forget);
  });
}

async function* untilAborted(samples: Samples, signal?: AbortSignal): AsyncGenerator<SampleLike> {
  const both = samples as Partial<AsyncIterable<SampleLike> & Iterable<SampleLike>> | undefined;
  const begin: ((this: unknown) => Next) | undefined = both?.[Symbol.asyncIterator] ?? both?.[Symbol.iterator];
  if (!begin) throw failure('usage', 'are nothing that can be iterated over', '', 'samples');
  const iterator = begin.call(samples);
  let ended = false;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { done, value } = await nextOf(iterator, signal);
      if (done) return void (ended = true);
      yield value;
    }
  } finally {
    // Not waited for: what hangs in next() would hang here too.
    if (!ended) Promise.resolve().then(() => iterator.return?.()).catch(() => {});
  }
}

class Run {
  private readonly budget: number;
  private readonly options: object;
  private samples = 0;
  private whole = false; // no cuts: the segments did not run
  private readonly sizes: Record<string, number> = {}; // bytes that each value got at most
  private sessions: RuntimeSession[] = [];
  segments: Segment[] | null = null;

  constructor(
    private readonly ort: Runtime, private readonly calibration: Calibration, private readonly hooks: CalibrationHooks,
  ) {
    this.budget = hooks.memoryBudget ?? MEMORY_BUDGET;
    this.options = {
      executionProviders: ['wasm'], logSeverityLevel: 3, ...hooks.sessionOptions,
      graphOptimizationLevel: 'disabled', // it would do away with values
    };
  }

  // What inference says where segments meet can be wrong: the first sample that does not run through them is run
  // through the whole model.
  async take(sample: SampleLike) {
    const name = `sample ${this.samples + 1}`;
    let tooLarge: boolean;
    try {
      tooLarge = await this.through(sample, name);
    } catch (fault) {
      const cut = this.segments !== null && this.segments.length > 1;
      const again = this.samples === 0 && !this.whole && cut && isRunFault(fault);
      if (!again) throw fault;
      this.whole = true;
      checked(this.calibration.forget());
      await this.close();
      tooLarge = await this.through(sample, name);
    }
    this.samples = checked(this.calibration.end_sample()).samples;
    if (tooLarge && !this.whole) await this.cutFiner();
  }

  private async through(sample: SampleLike, name: string): Promise<boolean> {
    const given = checked(this.calibration.begin_sample({ sample: sample as never, name })).sample;
    const segments = this.segments ?? (await this.cut());
    const live: Live = new Map();
    for (const [key, value] of Object.entries(given)) live.set(key, toTensor(this.ort, key, value) as never);
    let tooLarge = false;
    for (const [i, { inputs, outputs, observed, dropped }] of segments.entries()) {
      this.hooks.signal?.throwIfAborted();
      const feeds = Object.fromEntries(inputs.filter((key) => live.has(key)).map((key) => [key, live.get(key)]));
      const results = await this.complaining(name, 'does not run', () => this.sessions[i]!.run(feeds as never));
      for (const [key, tensor] of Object.entries(results)) live.set(key, tensor as TensorValue);
      tooLarge = this.measure(live, [...inputs, ...outputs]) > OVER_BUDGET * this.budget || tooLarge;
      for (const key of observed) {
        const tensor = live.get(key);
        if (tensor && tensor.type in ARRAYS) checked(this.calibration.observe(key, tensor));
      }
      for (const key of dropped) live.delete(key);
      this.hooks.onProgress?.({
        stage: 'calibrate', done: this.samples + (i + 1) / segments.length, total: this.hooks.total ?? null,
      });
    }
    return tooLarge;
  }

  private async cut(sizes?: Record<string, number>): Promise<Segment[]> {
    const budget = this.whole ? undefined : this.budget;
    const { segments } = checked(this.calibration.plan_segments({ sizes, budget }));
    await this.close();
    this.segments = segments;
    for (const i of segments.keys()) {
      this.hooks.signal?.throwIfAborted();
      const { model, external, external_name: path } = checked(this.calibration.segment_model(i));
      const options = external ? { ...this.options, externalData: [{ path, data: external }] } : this.options;
      const open = () => this.ort.InferenceSession.create(model, options);
      this.sessions.push(await this.complaining('model', 'does not load', open));
    }
    return segments;
  }

  private async cutFiner() {
    try {
      await this.cut(this.sizes);
    } catch (fault) {
      if (!isRunFault(fault)) throw fault;
      this.whole = true;
      await this.cut();
    }
  }

  // Bytes alive at the end of a segment; remembers how large each value got.
  private measure(live: Live, names: string[]): number {
    let alive = 0;
    for (const name of names) {
      const bytes = live.get(name)?.data?.byteLength ?? 0;
      alive += bytes;
      this.sizes[name] = Math.max(this.sizes[name] ?? 0, bytes);
    }
    return alive;
  }

  private async complaining<T>(where: string, problem: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (fault) {
      throw asFailure('run', problem, fault, where);
    }
  }

  async close() {
    const sessions = this.sessions;
    this.sessions = [];
    this.segments = null;
    for (const session of sessions) await session.release();
  }
}

/** Runs samples through a calibration that was begun; gives how many segments the model was cut into. */
export async function observeSamples(
  ort: Runtime, calibration: Calibration, samples: Samples, hooks: CalibrationHooks = {},
): Promise<number> {
  const { length, size } = (samples ?? {}) as { length?: number; size?: number };
  const run = new Run(ort, calibration, { ...hooks, total: hooks.total ?? length ?? size });
  try {
    for await (const sample of untilAborted(samples, hooks.signal)) await run.take(sample);
    return run.segments?.length ?? 0;
  } finally {
    await run.close();
  }
}

/** `ranges` of the result go into quantize_model's request. */
export async function calibrate(
  octet: Pick<OctetModule, 'start_calibration'>, ort: Runtime,
  model: Uint8Array | ByteReader | Pick<Request, 'name' | 'model' | 'open'>, samples: Samples, options: Options = {},
  hooks: CalibrationHooks = {},
): Promise<Calibrated> {
  hooks.signal?.throwIfAborted();
  const bytes = model instanceof Uint8Array || typeof (model as ByteReader)?.read === 'function';
  const source = (bytes ? { model } : model) as Pick<Request, 'name' | 'model' | 'open'>;
  const { calibration, taps } = checked(octet.start_calibration({ ...source, options, taps: hooks.taps }));
  try {
    const segments = await observeSamples(ort, calibration, samples, hooks);
    return { ...checked(calibration.learned()), taps, segments };
  } finally {
    calibration.delete();
  }
}
