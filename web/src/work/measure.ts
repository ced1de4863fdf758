// Runs the float model and the quantized one on the same inputs: drift, then latency of interleaved runs.
import type { OctetModule, Sample } from 'octet-core';
import { RUNTIME, Session } from './engine';
import { readNpz } from './npz';
import { failure, WorkFailure } from './protocol';
import type { Measured, ModelSource, Progress, Requests } from './protocol';
import { openable } from './readers';

const MOST_SAMPLES = 8;
const WARM_UP_MS = 250; // each: before its code is optimized a model looks twice as slow
const ROUNDS = 50, TIME_MS = 4000;
const BLOCK_MS = 2; // a timed block is at least this long

interface Inputs {
  samples: Sample[];
  description: string;
  synthetic: boolean;
}

async function realInputs(blobs: Blob[]): Promise<Inputs> {
  const samples = await Promise.all(blobs.slice(0, MOST_SAMPLES).map(readNpz));
  const what = samples.length === 1 ? 'a file of real samples' : `${samples.length} files of real samples`;
  return { samples, description: what, synthetic: false };
}

// The first made-up inputs that the model runs with: many models accept few sizes.
async function madeInputs(octet: OctetModule, source: ModelSource, session: Session): Promise<Inputs> {
  let sizes: (number | undefined)[] = [undefined], complaint: WorkFailure | null = null;
  for (let i = 0; i < sizes.length; ++i) {
    const request = { ...openable(source), count: 2 };
    const made = octet.make_samples(sizes[i] === undefined ? request : { ...request, free_size: sizes[i]! });
    if ('error' in made) throw new WorkFailure(made.error);
    if (i === 0) sizes = [undefined, ...made.sizes_to_try];
    try {
      await session.run(session.feeds(made.samples[0]!));
      return { samples: made.samples, description: made.description, synthetic: true };
    } catch (error) {
      if (!(error instanceof WorkFailure)) throw error;
      complaint ??= error;
    }
  }
  const problem = `no made-up input runs; the first attempt: ${complaint!.error.problem}`;
  throw failure('run', problem, 'drop samples (.npz)', source.name);
}

async function repeatsOf(session: Session, feeds: Parameters<Session['run']>[0]): Promise<number> {
  let once = 0;
  for (const start = performance.now(); performance.now() - start < WARM_UP_MS;) once = await session.time(feeds, 3);
  return Math.min(1000, Math.max(1, Math.ceil(BLOCK_MS / Math.max(once, 1e-3))));
}

async function interleave(a: Session, b: Session, inputs: Sample[], progress: (progress: Progress) => void) {
  const feeds = inputs.map((sample) => [a.feeds(sample), b.feeds(sample)] as const);
  const repeats = Math.max(await repeatsOf(a, feeds[0]![0]), await repeatsOf(b, feeds[0]![1]));
  const times: [number[], number[]] = [[], []];
  const start = performance.now();
  for (let round = 0; round < ROUNDS; ++round) {
    const [forA, forB] = feeds[round % feeds.length]!;
    // Each goes first every other round, so that neither profits from the other's caches.
    if (round % 2 === 0) times[0].push(await a.time(forA, repeats));
    times[1].push(await b.time(forB, repeats));
    if (round % 2 === 1) times[0].push(await a.time(forA, repeats));
    const elapsed = performance.now() - start;
    progress({ stage: 'time', done: Math.max((round + 1) / ROUNDS, Math.min(1, elapsed / TIME_MS)), total: 1 });
    if (elapsed > TIME_MS && round >= 4) break;
  }
  return times;
}

function bytes({ model, files }: ModelSource): number {
  return Object.values(files).reduce((sum, file) => sum + file.size, model.size);
}

export async function measure(
  octet: OctetModule, { source, candidate, samples }: Requests['measure'], progress: (progress: Progress) => void,
): Promise<Measured> {
  const sessions: Session[] = [];
  try {
    const reference = await Session.open(source);
    sessions.push(reference);
    const inputs = samples.length > 0 ? await realInputs(samples) : await madeInputs(octet, source, reference);
    const quantized = await Session.open(candidate);
    sessions.push(quantized);

    const runs = [];
    for (const [i, sample] of inputs.samples.entries()) {
      progress({ stage: 'check', done: i, total: inputs.samples.length });
      runs.push({
        reference: await reference.run(reference.feeds(sample)),
        candidate: await quantized.run(quantized.feeds(sample)),
      });
    }
    const [reference_ms, candidate_ms] = await interleave(reference, quantized, inputs.samples, progress);
    const judged = octet.judge_runs({
      runs, reference_ms, candidate_ms, synthetic: inputs.synthetic,
      input_bytes: bytes(source), output_bytes: bytes(candidate),
    });
    if ('error' in judged) throw new WorkFailure(judged.error);
    return {
      ...judged, reference_ms, candidate_ms,
      runtime: RUNTIME, inputs: inputs.description, synthetic: inputs.synthetic,
    };
  } finally {
    for (const session of sessions) await session.close();
  }
}
