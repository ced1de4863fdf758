// Drift with one thread, times with several numbers of threads: each number has a worker of its own, since the runtime
// cannot change it.
import type { WorkClient } from './client.js';
import type { Measured } from './protocol.js';
import { bytesOf } from './readers.js';
import { sentList } from './sent.js';
import type { CompareOptions, Comparison, Environment, Hooks, ModelFiles } from './types.js';

const MOST_SAMPLES = 8;
const RUNS = 50, WARM_UP = 5, SECONDS = 4;
const MOST_THREADS = 8;
const KEPT_BYTES = 128e6; // workers that held more are ended: a runtime's memory never shrinks

function threadsHere(): { available: number; note?: string } {
  const cores = globalThis.navigator?.hardwareConcurrency ?? 1;
  if (globalThis.crossOriginIsolated) return { available: Math.max(1, Math.min(cores, MOST_THREADS)) };
  return { available: 1, note: 'the page is not cross-origin isolated, and so there is one thread' };
}

function environmentOf({ runtime, clock_ms }: Measured): Environment {
  const { available, note } = threadsHere();
  return {
    runtime, clock_ms, threads_available: available, ...(note !== undefined && { threads_note: note }),
    agent: globalThis.navigator?.userAgent ?? '', cores: globalThis.navigator?.hardwareConcurrency ?? 1,
    isolated: globalThis.crossOriginIsolated ?? false,
  };
}

export async function compareIn(
  timing: (threads: number) => WorkClient, reference: ModelFiles, candidate: ModelFiles,
  { samples = { synthetic: {} }, threads, runs = RUNS, warmup = WARM_UP, seconds = SECONDS }: CompareOptions,
  hooks: Hooks,
): Promise<Comparison> {
  const { available } = threadsHere();
  const source = await sentList(samples, MOST_SAMPLES);
  const wanted = [...new Set(threads ?? [1, available])].filter((count) => count > 1 && count <= available);
  const measure = (count: number) => {
    const request = { reference, candidate, samples: source, threads: count, runs, warmup, seconds };
    return timing(count).run('measure', request, hooks);
  };
  try {
    const { judged, timed, load_ms, samples: used, ...single } = await measure(1);
    const { latency: _, ...rest } = judged;
    const latency_by_threads = [timed];
    for (const count of wanted) latency_by_threads.push((await measure(count)).timed);
    const { baseline, candidate: after, speedup } = timed;
    return {
      ...rest, latency: { baseline, candidate: after, speedup }, latency_by_threads, load_ms, samples: used,
      environment: environmentOf({ judged, timed, load_ms, samples: used, ...single }),
    };
  } finally {
    if (bytesOf(reference) > KEPT_BYTES) for (const count of [1, ...wanted]) timing(count).rest();
  }
}
