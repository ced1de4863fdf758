// Drift with one thread, times with several numbers of threads: each number has a worker of its own, since the runtime
// cannot change it.
import type { WorkClient } from './client.js';
import type { Measured } from './protocol.js';
import { bytesOf } from './readers.js';
import { sentList } from './sent.js';
import type { CompareHooks, CompareOptions, Comparison, ModelFiles } from './types.js';

const MOST_SAMPLES = 8;
const RUNS = 50, WARM_UP = 5, SECONDS = 4;
const MOST_THREADS = 8;
const KEPT_BYTES = 128e6; // workers that held more are ended: a runtime's memory never shrinks

function threadsHere(): { available: number; note?: string } {
  const cores = globalThis.navigator?.hardwareConcurrency ?? 1;
  if (globalThis.crossOriginIsolated) return { available: Math.max(1, Math.min(cores, MOST_THREADS)) };
  return { available: 1, note: 'the page is not cross-origin isolated, and so there is one thread' };
}

function comparisonOf({ judged, timed, load_ms, samples, runtime, clock_ms }: Measured): Comparison {
  const { available, note } = threadsHere();
  return {
    ...judged, latency_by_threads: timed ? [timed] : [], load_ms, samples,
    environment: {
      runtime, clock_ms, threads_available: available, ...(note !== undefined && { threads_note: note }),
      agent: globalThis.navigator?.userAgent ?? '', cores: globalThis.navigator?.hardwareConcurrency ?? 1,
      isolated: globalThis.crossOriginIsolated ?? false,
    },
  };
}

export async function compareIn(
  timing: (threads: number) => WorkClient, reference: ModelFiles, candidate: ModelFiles, options: CompareOptions,
  { onPartial, ...hooks }: CompareHooks,
): Promise<Comparison> {
  const {
    samples = { synthetic: {} }, threads, runs = RUNS, warmup = WARM_UP, seconds = SECONDS, ...judging
  } = options;
  const { available } = threadsHere();
  const source = await sentList(samples, MOST_SAMPLES);
  const wanted = [...new Set(threads ?? [1, available])].filter((count) => count > 1 && count <= available);
  const measure = (count: number) => {
    const request = { reference, candidate, samples: source, threads: count, runs, warmup, seconds, judging };
    const onMeasured = (partial: Measured) => onPartial?.(comparisonOf(partial));
    return timing(count).run('measure', request, count === 1 ? { ...hooks, onMeasured } : hooks);
  };
  try {
    const comparison = comparisonOf(await measure(1));
    for (const count of wanted) comparison.latency_by_threads.push((await measure(count)).timed!);
    return comparison;
  } finally {
    if (bytesOf(reference) > KEPT_BYTES) for (const count of [1, ...wanted]) timing(count).rest();
  }
}
