// Native figures of a run: measured by `octet serve` where the page came from it, or out of a report that is dropped.
import { signal } from '@preact/signals';
import { bytesOf, failure } from 'octet-wasm';
import type { ModelFiles, WorkError } from 'octet-wasm';
import { plural } from '../format';
import { readReport, readReportFile } from '../native/bench_report';
import type { BenchReport } from '../native/bench_report';
import { nativeVerdict } from '../native/figures';
import { fitting } from '../native/fit';
import { sentFiles, withSent } from '../native/sent_files';
import { benchOnServer, serverStatus } from '../native/server';
import type { BenchRequest, ServerStatus } from '../native/server';
import { token } from '../native/token';
import { nativeSentence } from '../take/verdict_words';
import { syntheticOf, thresholdsOf } from '../options';
import type { Choices } from '../options';
import { octet } from './client';
import { announcement, asError, exclusively } from './job';
import type { Tell } from './job';
import { loaded } from './model';
import { runs, updateRun } from './runs';
import type { Run } from './runs';
import { checkedOn, sourceOf } from './samples';

/** The server that the page came from; null: a plain one, which serves files and nothing else. */
export const server = signal<ServerStatus | null>(null);
/** What went wrong with the native figures of a run. */
export const nativeProblem = signal<{ run: string; error: WorkError } | null>(null);

// In all that is timed, by the times that the browser took: what is cheap need not be asked for.
const CHEAP_MS = 15_000, CHEAP_BYTES = 64e6;
const TIMED_RUNS = 60, THREAD_COUNTS = 2;
const MOST_SAMPLES = 8; // as many as the browser runs on

// Of the server's work.
export const STEPS: Record<string, string> = { memory: 'memory', load: 'loading', compare: 'outputs', time: 'times' };

export async function look() {
  server.value = await serverStatus();
}
token.subscribe(() => void look());

/** The float model of a run, where it is open. */
export function sourceOfRun({ source }: Run): ModelFiles | null {
  const open = loaded.value;
  return open && open.name === source.name && bytesOf(open) === source.bytes ? open : null;
}

/** As far as is known before the browser has timed it. */
export const mayBeCheap = (run: Run) =>
  run.source.bytes <= CHEAP_BYTES && (!run.comparison?.latency_by_threads.length || isCheap(run));

function isCheap({ source, comparison }: Run): boolean {
  const timed = comparison?.latency_by_threads[0];
  if (!timed || source.bytes > CHEAP_BYTES) return false;
  const both = timed.baseline.median_ms + timed.candidate.median_ms;
  return both * TIMED_RUNS * THREAD_COUNTS <= CHEAP_MS;
}

function threadsFor({ comparison }: Run, { threads }: ServerStatus): number[] {
  const here = (comparison?.latency_by_threads ?? []).map((timed) => timed.threads).filter((count) => count <= threads);
  return [...new Set([1, ...here, threads])].sort((a, b) => a - b);
}

interface Inputs {
  samples: Map<string, Blob>;
  request: Pick<BenchRequest, 'data' | 'synthetic' | 'dims'>;
}

const noValues = () => failure(
  'usage', 'octet serve makes up no inputs with values of your own',
  'drop samples, or run the command with --fix that the page shows',
);

/** What models run on: the very tensors that they ran on in the browser. */
export async function inputsFor(choices: Choices, source: ModelFiles, signal: AbortSignal): Promise<Inputs> {
  const set = checkedOn.value;
  if (set.kind === 'made up') {
    if (server.value?.data) return { samples: new Map(), request: { data: 'served' } };
    const { dims, fixed, seed } = syntheticOf(choices);
    if (fixed) throw noValues();
    const synthetic = { count: set.count, ...(seed !== undefined && { seed }) };
    return { samples: new Map(), request: { synthetic, ...(dims && { dims }) } };
  }
  const { npzOf } = await import('../native/npz');
  const given = sourceOf(set, choices, 'evaluation');
  const read = await octet.readSamples(source, given, { limit: MOST_SAMPLES }, { signal });
  const samples = new Map<string, Blob>();
  for (const [i, { tensors }] of read.samples.entries()) {
    samples.set(`sample-${String(i).padStart(3, '0')}.npz`, await npzOf(tensors));
  }
  return { samples, request: { data: [...samples.keys()] } };
}

// The server knows models by the names that they were sent under, and samples by a folder of its own.
function asCalledHere(report: BenchReport, names: Map<string, string>, samples: string | undefined): BenchReport {
  const rows = report.rows.map((row) => ({ ...row, name: names.get(row.name) ?? row.name }));
  return { ...report, rows, ...(samples !== undefined && { samples_description: samples }) };
}

// As the server calls them.
function limitsOf(choices: Choices): NonNullable<BenchRequest['thresholds']> {
  const { min_sqnr: min_sqnr_db, ...limits } = thresholdsOf(choices);
  return { ...limits, ...(min_sqnr_db !== undefined && { min_sqnr_db }) };
}

async function measure(run: Run, source: ModelFiles, signal: AbortSignal, tell: Tell) {
  const status = server.value!;
  const sending = sentFiles([source, run.output]), { models, names } = sending;
  const { samples, request } = await inputsFor(run.choices, source, signal);
  await withSent(sending, samples, signal, (done, total) => tell({ stage: 'send', done, total }), async () => {
    tell({ stage: 'native', done: 0, total: null });
    const calibrated_on = run.calibrated?.samples;
    const report = readReport(
      await benchOnServer(
        {
          models, ...request, threads: threadsFor(run, status), plan: run.report.plan,
          ...(calibrated_on !== undefined && { calibrated_on }), thresholds: limitsOf(run.choices),
        },
        signal,
        ({ stage, done, total }) => tell({ stage: 'native', done, total, detail: `(${STEPS[stage] ?? stage})` }),
      ),
      'octet serve',
    );
    const here = samples.size > 0 ? run.comparison?.samples.description : undefined;
    keepNative(run.id, asCalledHere(report, names, here), null);
  });
}

function keepNative(id: string, report: BenchReport, file: string | null) {
  const run = runs.peek().find((one) => one.id === id);
  if (!run) return;
  fitting(report, run, file ?? 'octet serve');
  updateRun(id, { native: { report, file } });
  const verdict = nativeVerdict({ ...run, native: { report, file } });
  announcement.value = `Native figures are there${verdict ? `. Natively: ${nativeSentence(verdict)}` : ''}`;
}

async function measured(id: string, source: ModelFiles, signal: AbortSignal, tell: Tell) {
  const run = runs.peek().find((one) => one.id === id);
  if (!run) return;
  nativeProblem.value = null;
  try {
    await measure(run, source, signal, tell);
  } catch (error) {
    if (signal.aborted) throw error;
    fail(id, error);
  }
}

function fail(run: string, error: unknown) {
  nativeProblem.value = { run, error: asError(error) };
  announcement.value = nativeProblem.value.error.message;
}

/** As the last step of a run that is being made. */
export async function measureIfCheap(id: string, source: ModelFiles, signal: AbortSignal, tell: Tell) {
  const run = runs.peek().find((one) => one.id === id);
  if (server.peek() && run && isCheap(run)) await measured(id, source, signal, tell);
}

export const noServer = () =>
  failure('run', 'octet serve does not answer', 'start it again, and open the address that it prints');

export async function measureNatively(run: Run) {
  const source = sourceOfRun(run);
  if (!source) return;
  await exclusively(['send', 'native'], async (signal, tell) => {
    await look();
    if (server.value) await measured(run.id, source, signal, tell);
    else fail(run.id, noServer());
  });
}

export async function takeReport(run: Run, files: File[]) {
  const [file, ...more] = files;
  if (!file) return;
  nativeProblem.value = null;
  try {
    if (more.length > 0) throw new Error(`${plural(files.length, 'file')} at once: drop the one report of octet bench`);
    keepNative(run.id, await readReportFile(file), file.name);
  } catch (error) {
    fail(run.id, error);
  }
}

export function forgetNative(run: Run) {
  nativeProblem.value = null;
  updateRun(run.id, { native: null });
}
