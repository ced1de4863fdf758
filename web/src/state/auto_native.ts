// Candidates of a search timed natively too, each against FP32 in turn, by the `octet serve` that the page came from.
import { discard } from 'octet-wasm';
import type { AutoState, ModelFiles } from 'octet-wasm';
import { plural } from '../format';
import { readReport } from '../native/bench_report';
import type { BenchReport, Speedup } from '../native/bench_report';
import { sentFiles, withSent } from '../native/sent_files';
import { benchOnServer } from '../native/server';
import { addNative, found } from './auto';
import type { Found } from './auto';
import { octet } from './client';
import { announcement, exclusively, job, problem } from './job';
import { inputsFor, look, noServer, server, STEPS } from './native';

/** One candidate's; all but `bytes` is missing where it does not run. */
export interface NativeFigure {
  bytes: number;
  error?: string;
  speedup?: Speedup;
  /** Of the worst output; null where it is no number. */
  db?: number | null;
  /** Medians. */
  float_ms?: number;
  candidate_ms?: number;
}

export interface NativeTimes {
  runtime: string;
  cpu: string;
  threads: number;
  samples: number;
  synthetic: boolean;
  /** By the candidates' places. */
  figures: Record<number, NativeFigure>;
}

const THREADS = 1; // as in the search
const TIMING = { threads: [THREADS], runs: 60, seconds: 4, memory: false };

/** Those on the front, and those that some floor would choose. */
export function worthTiming({ candidates, chosen, choices }: AutoState): number[] {
  const some = new Set([chosen, ...choices.map(({ candidate }) => candidate)]);
  return candidates.flatMap(({ runs, speedup, front }, i) => (runs && speedup && (front || some.has(i)) ? [i] : []));
}

function figureOf({ rows: [float, candidate] }: BenchReport): NativeFigure {
  const bytes = candidate!.file_bytes, error = float!.error ?? candidate!.error;
  if (error !== undefined || !candidate!.speedup) return { bytes, error: error ?? 'it was not timed' };
  return {
    bytes, speedup: candidate!.speedup, db: candidate!.worst_sqnr_db ?? null,
    float_ms: float!.latency!.median_ms, candidate_ms: candidate!.latency!.median_ms,
  };
}

async function write({ source, plans, choices: { external_data } }: Found, index: number, signal: AbortSignal) {
  const request = { plan: plans[index]!, output: `candidate-${index}.onnx`, ...(external_data && { external_data }) };
  return (await octet.quantize(source, request, { signal })).output;
}

type Inputs = Awaited<ReturnType<typeof inputsFor>>;

async function bench(
  source: ModelFiles, output: ModelFiles, { samples, request }: Inputs, signal: AbortSignal,
  tell: (share: number, step: string) => void,
): Promise<BenchReport> {
  const sending = sentFiles([source, output]), { models } = sending;
  return withSent(sending, samples, signal, () => tell(0, 'sending'), async () => {
    const said = await benchOnServer({ models, ...request, ...TIMING }, signal, ({ stage, done, total }) =>
      tell(stage === 'time' && total ? done / total : 0, STEPS[stage] ?? stage));
    return readReport(said, 'octet serve');
  });
}

export async function timeNatively() {
  const from = found.value;
  if (!from || job.value) return;
  const wanted = worthTiming(from.state), figures: NativeTimes['figures'] = {};
  await exclusively(['native'], async (signal, tell) => {
    problem.value = null;
    await look();
    if (!server.value) throw noServer();
    const inputs = await inputsFor(from.choices, from.source, signal);
    for (const [i, index] of wanted.entries()) {
      const far = (share: number, step: string) =>
        tell({ stage: 'native', done: i + share, total: wanted.length, detail: `(${i + 1} of ${wanted.length}: ${step})` });
      far(0, 'writing');
      const output = await write(from, index, signal);
      try {
        const report = await bench(from.source, output, inputs, signal, far);
        const { runtime, environment: { cpu }, samples, synthetic } = report;
        figures[index] = figureOf(report);
        addNative(from.id, { runtime, cpu, threads: THREADS, samples, synthetic, figures: { ...figures } });
      } finally {
        void discard(output);
      }
    }
    announcement.value = `${plural(wanted.length, 'candidate')} timed natively`;
  });
}
