// The automatic search: the core asks for runs and times, this makes them, until the end or until it is told to stop.
import type {
  AutoAnswer, AutoBudget, AutoOptions, AutoQuestion, AutoRequest, AutoSearch, AutoState, Calibration, OctetModule, Plan,
  ReadSample, Sample, StartedAuto,
} from '../octet.js';
import { observeSamples } from './calibrate.js';
import { describeRuntime, runtimeWith, Session } from './engine.js';
import type { Runtime } from './engine.js';
import { checked, failure, OctetError } from './error.js';
import { clockStep, interleave } from './measure.js';
import type { SentSource } from './protocol.js';
import { openKnown, plain } from './samples.js';
import type { AutoFound, ModelFiles, Progress } from './types.js';

// As the command line has them.
const GLANCE = 4, JUDGED = 16, TIMED = 4;
// Right answers are counted, and of few samples one is much.
const LABELLED = 100;
const TIMES = { speed: { runs: 40, seconds: 0.8 }, confirm: { runs: 150, seconds: 3 } };
// Samples and what the float model gives for them are held; what would take more, or longer to run, is not.
const MOST_BYTES = 64e6, MOST_SECONDS = 6;

export interface AutoSources {
  calib: SentSource;
  data?: SentSource;
}

export interface AutoWork {
  model: ModelFiles;
  options: AutoOptions;
  budget: AutoBudget;
  ranges?: string;
  log?: string;
  labels?: string;
  sources: AutoSources;
  threads: number;
}

export interface AutoEvents {
  tell: (progress: Progress) => void;
  found: (found: AutoFound) => void;
  /** Ends the search with what it has. */
  stop: AbortSignal;
}

type Asked = Omit<AutoRequest, 'name' | 'model' | 'open' | 'progress'>;

const bytesIn = (sample: Sample) => Object.values(sample).reduce((sum, { data }) => sum + data.byteLength, 0);

// Lets messages in: the runtime never waits for anything but itself.
function breath(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => (port1.close(), resolve());
    port2.postMessage(null);
  });
}

async function* breathing(samples: AsyncIterable<Sample> | Sample[]): AsyncGenerator<Sample> {
  for await (const sample of samples) {
    yield sample;
    await breath();
  }
}

// FNV-1a of all their bytes: a log is of these samples and no others, and of their labels.
function hashOf(parts: ArrayBufferView[]): string {
  let hash = 0x811c9dc5;
  for (const { buffer, byteOffset, byteLength } of parts) {
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    for (let i = 0; i < bytes.length; ++i) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  }
  return (hash >>> 0).toString(16);
}

interface Judging extends ReadSample {
  outputs: Sample;
}

/** The float model and what it gives. */
class Reference {
  private constructor(
    private readonly ort: Runtime, private readonly baseline: Session, private readonly clock: number,
    private readonly judged: Judging[], private readonly threads: number,
  ) {}

  static async open(ort: Runtime, model: ModelFiles, samples: ReadSample[], threads: number, stop: AbortSignal) {
    const judged: Judging[] = [];
    const unoptimized = await Session.open(ort, model, false);
    try {
      const start = performance.now();
      for (const read of samples) {
        stop.throwIfAborted();
        judged.push({ ...read, outputs: await unoptimized.run(unoptimized.feeds(read.sample)) });
        if (performance.now() - start > 1000 * MOST_SECONDS) break;
        await breath();
      }
    } finally {
      await unoptimized.close();
    }
    return new Reference(ort, await Session.open(ort, model), clockStep(), judged, threads);
  }

  async measure(search: AutoSearch, effort: 'glance' | 'drift' | 'speed' | 'confirm', stop: AbortSignal) {
    const candidate = await Session.written(this.ort, 'the candidate', checked(search.candidate_model()), true);
    try {
      for (const { sample, outputs, name, place } of effort === 'glance' ? this.judged.slice(0, GLANCE) : this.judged) {
        const others = await candidate.run(candidate.feeds(sample));
        checked(search.add_outputs({ reference: outputs, candidate: others, name, place }));
        await breath();
        stop.throwIfAborted();
      }
      return effort === 'speed' || effort === 'confirm' ? await this.time(candidate, TIMES[effort], stop) : {};
    } finally {
      await candidate.close();
    }
  }

  private async time(candidate: Session, timing: { runs: number; seconds: number }, stop: AbortSignal) {
    const inputs = this.judged.slice(0, TIMED).map(({ sample }) => sample);
    const request = { ...timing, warmup: 2, threads: this.threads };
    const pause = async () => (await breath(), stop.throwIfAborted());
    const { times } = await interleave(this.baseline, candidate, inputs, request, this.clock, () => {}, pause);
    return { reference_ms: times[0], candidate_ms: times[1] };
  }

  async close() {
    await this.baseline.close();
  }
}

class Searcher {
  #reference: Reference | undefined;
  #known: { count: number; confirmed: number } = { count: 0, confirmed: 0 };

  constructor(
    private readonly octet: OctetModule, private readonly search: AutoSearch, private readonly work: AutoWork,
    private readonly samples: ReadSample[], private readonly events: AutoEvents,
  ) {}

  async toTheEnd(): Promise<void> {
    const { stop } = this.events;
    while (!stop.aborted) {
      const question = checked(this.search.next());
      // What a log knew already is found without a question.
      this.report();
      if (question.ask === 'nothing') return;
      const { stage: detail, done, total } = question;
      this.events.tell({ stage: 'search', done, total, detail });
      try {
        checked(this.search.answer(await this.answerTo(question)));
      } catch (error) {
        if (!stop.aborted) throw error;
      }
      await breath();
    }
    checked(this.search.stop());
    this.report();
  }

  private async answerTo(question: Exclude<AutoQuestion, { ask: 'nothing' }>): Promise<AutoAnswer> {
    if (question.ask !== 'measure') return this.observe(question.calibration);
    const { stop } = this.events, { model, threads } = this.work;
    this.#reference ??= await Reference.open(runtimeWith(threads), model, this.samples, threads, stop);
    try {
      return await this.#reference.measure(this.search, question.effort, stop);
    } catch (error) {
      if (!(error instanceof OctetError) || error.error.code !== 'run') throw error;
      return { error: error.error.problem };
    }
  }

  private async observe(calibration: Calibration): Promise<AutoAnswer> {
    try {
      const opened = openKnown(this.octet, this.work.model, this.work.sources.calib), { count } = opened;
      const hooks = { onProgress: this.events.tell, total: count ?? undefined, signal: this.events.stop };
      await observeSamples(runtimeWith(this.work.threads), calibration, breathing(plain(opened)), hooks);
      return {};
    } finally {
      calibration.delete();
    }
  }

  // Tells what is new.
  private report() {
    const state = checked(this.search.state()), { candidates } = state;
    const confirmed = candidates.filter((candidate) => candidate.confirmed).length, { count } = this.#known;
    const changed = candidates.length !== count || confirmed !== this.#known.confirmed;
    const plans = candidates.slice(count).map((_, i) => checked(this.search.plan(count + i)).plan);
    this.#known = { count: candidates.length, confirmed };
    this.events.found({ state, plans, ...(changed && { log: checked(this.search.log()).log }) });
  }

  async close() {
    await this.#reference?.close();
  }
}

async function judgedOf(octet: OctetModule, model: ModelFiles, source: SentSource, most: number): Promise<ReadSample[]> {
  const samples: ReadSample[] = [];
  let bytes = 0;
  for await (const read of openKnown(octet, model, source, most).named) {
    samples.push(read);
    bytes += bytesIn(read.sample);
    if (samples.length === most || bytes > MOST_BYTES) break;
  }
  if (samples.length === 0) throw failure('data', 'there are none', '', 'samples');
  return samples;
}

export interface AutoEnd {
  state: AutoState;
  plan: Plan;
  log: string;
}

/** `start` knows the model. */
export async function searchAutomatically(
  octet: OctetModule, start: (asked: Asked) => StartedAuto, work: AutoWork, events: AutoEvents,
): Promise<AutoEnd> {
  const { model, sources, threads, budget, options, ranges, log, labels } = work;
  runtimeWith(threads);
  const most = budget.max_drop === undefined ? JUDGED : LABELLED;
  const samples = await judgedOf(octet, model, sources.data ?? sources.calib, most);
  const machine = `${describeRuntime()}, ${threads} threads, ${navigator.userAgent}`;
  const tensors = samples.flatMap(({ sample }) => Object.values(sample).map(({ data }) => data));
  const parts = [...tensors, new TextEncoder().encode(labels)];
  const context = `${samples.length} samples ${hashOf(parts)}, ${machine}`;
  const { search } = start({ options, budget, ranges, log, labels, context });
  const searcher = new Searcher(octet, search, work, samples, events);
  try {
    await searcher.toTheEnd();
    const state = checked(search.state()), { chosen, candidates, unmet } = state;
    if (chosen !== null) return { state, plan: checked(search.plan(chosen)).plan, log: checked(search.log()).log };
    if (candidates.length === 0) throw failure('interrupted', 'stopped before anything was measured', '', model.name);
    throw failure('quality', unmet, 'allow more in the budget: min_sqnr or max_drop, max_bytes, min_speedup or seconds', model.name);
  } finally {
    await searcher.close();
    search.delete();
  }
}
