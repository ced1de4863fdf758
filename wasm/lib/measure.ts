// Runs the float model and the quantized one on the same inputs: drift, then latency of interleaved runs.
import type { OctetModule, Sample } from '../octet.js';
import { describeRuntime, runtimeWith, Session } from './engine.js';
import { checked } from './error.js';
import type { Measured, MeasureRequest } from './protocol.js';
import { bytesOf } from './readers.js';
import { firstThatRuns, listOf, openSamples } from './samples.js';
import type { Pull } from './samples.js';
import type { Progress } from './types.js';

const MOST_SAMPLES = 8, MADE_UP = 2;
const WARM_UP_MS = 250; // each at least: before its code is optimized a model looks twice as slow
const LEAST_ROUNDS = 5;
const CLOCK_STEPS = 20; // a timed block is at least so many steps of the clock
const LEAST_BLOCK_MS = 2;

type Tell = (progress: Progress) => void;
type Timing = Pick<MeasureRequest, 'threads' | 'runs' | 'warmup' | 'seconds'>;
type Feeds = ReturnType<Session['feeds']>;

interface Inputs {
  list: Sample[];
  description: string;
  synthetic: boolean;
}

async function inputsFor(octet: OctetModule, request: MeasureRequest, pull: Pull, session: Session): Promise<Inputs> {
  const { reference, samples } = request;
  if ('synthetic' in samples) {
    return firstThatRuns(octet, reference, { count: MADE_UP, ...samples.synthetic }, async (made) => {
      await session.run(session.feeds(made.list[0]!));
      return { ...made, synthetic: true };
    });
  }
  const opened = openSamples(octet, reference, samples, pull, MOST_SAMPLES), list = await listOf(opened);
  return { list, description: opened.description, synthetic: false };
}

// The smallest step of the clock: browsers make it coarse, more so where the page is not isolated.
export function clockStep(): number {
  let least = Infinity;
  for (let i = 0; i < 5; ++i) {
    const start = performance.now();
    let now = start;
    while (now === start) now = performance.now();
    least = Math.min(least, now - start);
  }
  return least;
}

// Runs a model until it is warm; gives how many of its runs one block takes.
async function warmUp(session: Session, feeds: Feeds, { warmup, seconds }: Timing, block: number) {
  const start = performance.now();
  let once = 0;
  for (let run = 1; ; ++run) {
    once = await session.time(feeds, 1);
    const elapsed = performance.now() - start;
    if ((run >= warmup && elapsed >= WARM_UP_MS) || elapsed >= (seconds * 1000) / 4) break;
  }
  if (once < block) once = await session.time(feeds, Math.ceil(block / Math.max(once, 0.02)));
  return Math.min(1000, Math.max(1, Math.ceil(block / Math.max(once, 1e-3))));
}

/** `pause` comes between the rounds. */
export async function interleave(
  a: Session, b: Session, inputs: Sample[], request: Timing, clock: number, tell: Tell, pause?: () => Promise<void>,
) {
  const { runs, seconds, threads } = request;
  const detail = threads === 1 ? '1 thread' : `${threads} threads`;
  const feeds = inputs.map((sample) => [a.feeds(sample), b.feeds(sample)] as const);
  tell({ stage: 'time', done: 0, total: runs, detail });
  const block = Math.max(LEAST_BLOCK_MS, CLOCK_STEPS * clock);
  const [first] = feeds;
  const repeats = Math.max(
    await warmUp(a, first![0], request, block), await warmUp(b, first![1], request, block));
  const times: [number[], number[]] = [[], []];
  const start = performance.now();
  for (let round = 0; round < runs; ++round) {
    const [forA, forB] = feeds[round % feeds.length]!;
    // Each goes first every other round, so that neither profits from the other's caches.
    if (round % 2 === 0) times[0].push(await a.time(forA, repeats));
    times[1].push(await b.time(forB, repeats));
    if (round % 2 === 1) times[0].push(await a.time(forA, repeats));
    const spent = (performance.now() - start) / (seconds * 1000);
    tell({ stage: 'time', done: Math.max(round + 1, Math.min(1, spent) * runs), total: runs, detail });
    if (spent > 1 && round + 1 >= LEAST_ROUNDS) break;
    await pause?.();
  }
  return { times, repeats };
}

type Outputs = { reference: Sample; candidate: Sample }[];

/** `first` learns of the first sample's, where there are more: what is wrong mostly shows there. */
async function outputsOf(a: Session, b: Session, inputs: Sample[], tell: Tell, first: (runs: Outputs) => void) {
  const runs: Outputs = [];
  for (const [i, sample] of inputs.entries()) {
    tell({ stage: 'check', done: i, total: inputs.length });
    runs.push({ reference: await a.run(a.feeds(sample)), candidate: await b.run(b.feeds(sample)) });
    if (i === 0 && inputs.length > 1) first(runs);
  }
  return runs;
}

export async function measure(
  octet: OctetModule, request: MeasureRequest, pull: Pull, tell: Tell, partial: (known: Measured) => void,
): Promise<Measured> {
  const { reference, candidate, threads } = request;
  const sessions: Session[] = [];
  tell({ stage: 'runtime', done: 0, total: 2 });
  const ort = runtimeWith(threads);
  try {
    const before = await Session.open(ort, reference);
    sessions.push(before);
    const { list, description, synthetic } = await inputsFor(octet, request, pull, before);
    tell({ stage: 'runtime', done: 1, total: 2 });
    const after = await Session.open(ort, candidate);
    sessions.push(after);

    const clock_ms = clockStep();
    const known = {
      clock_ms, load_ms: { reference: before.load_ms, candidate: after.load_ms },
      samples: { description, count: list.length, synthetic }, runtime: describeRuntime(),
    };
    const judge = (runs: Outputs, reference_ms: number[], candidate_ms: number[]) => checked(octet.judge_runs({
      runs, reference_ms, candidate_ms, synthetic, ...request.judging,
      input_bytes: bytesOf(reference), output_bytes: bytesOf(candidate),
    }));
    const early = (runs: Outputs) => {
      const samples = { ...known.samples, description: `the first of ${description}`, count: runs.length };
      partial({ ...known, samples, judged: judge(runs, [], []), timed: null });
    };
    // Drift is the same with any number of threads.
    const runs = threads === 1 ? await outputsOf(before, after, list, tell, early) : [];
    partial({ ...known, judged: judge(runs, [], []), timed: null });
    const { times: [reference_ms, candidate_ms], repeats } = await interleave(
      before, after, list, request, clock_ms, tell);
    const judged = judge(runs, reference_ms, candidate_ms);
    return {
      ...known, judged, timed: { threads, reference_ms, candidate_ms, ...judged.latency!, runs_per_block: repeats },
    };
  } finally {
    for (const session of sessions) await session.close();
  }
}
