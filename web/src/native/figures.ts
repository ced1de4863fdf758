// A run's figures from the browser and from the command line side by side, the ratios between the two, and what such a
// ratio goes across.
import type { Verdict } from 'octet-wasm';
import type { Owner } from '../charts/bars';
import { plural } from '../format';
import { outputBytes } from '../state/runs';
import type { Run } from '../state/runs';
import type { BenchReport, NativeRow, Speedup } from './bench_report';
import { fitting } from './fit';

/** What a run has from `octet bench`. */
export interface Native {
  report: BenchReport;
  /** Name of the file that was dropped; null: `octet serve`, where the page came from, has measured it. */
  file: string | null;
}

export type Where = 'browser' | 'native';

export interface Column {
  where: Where;
  threads: number;
}

export interface Timing extends Column {
  median_ms: number;
  /** Median absolute deviation. */
  mad_ms: number;
  ms: number[];
  /** Against the float model in the same column. */
  speedup: Speedup | null;
}

export interface FigureRow {
  owner: Owner;
  label: string;
  bytes: number;
  times: Timing[];
  /** Of the worst output in dB; null: not finite; undefined: not measured. */
  db: Partial<Record<Where, number | null>>;
  /** Why it does not run natively. */
  error?: string;
}

export interface Figures {
  columns: Column[];
  rows: FigureRow[];
}

const sameColumn = (a: Column, b: Column) => a.where === b.where && a.threads === b.threads;

export const timingIn = ({ times }: FigureRow, column: Column) =>
  times.find((time) => sameColumn(time, column)) ?? null;

export const columnText = ({ where, threads }: Column) =>
  `${where === 'browser' ? 'Browser' : 'Native'}, ${plural(threads, 'thread')}`;

function inBrowser({ comparison }: Run, which: 'reference' | 'candidate'): Timing[] {
  return (comparison?.latency_by_threads ?? []).map((timed) => {
    const { median_ms, mad_ms } = which === 'reference' ? timed.baseline : timed.candidate;
    const ms = which === 'reference' ? timed.reference_ms : timed.candidate_ms;
    const speedup = which === 'reference' ? null : timed.speedup;
    return { where: 'browser', threads: timed.threads, median_ms, mad_ms, ms, speedup };
  });
}

function natively(rows: NativeRow[]): Timing[] {
  return rows.flatMap(({ threads, latency, milliseconds, speedup }) =>
    latency && milliseconds
      ? [{
          where: 'native' as const, threads, median_ms: latency.median_ms, mad_ms: latency.mad_ms, ms: milliseconds,
          speedup: speedup ?? null,
        }]
      : [],
  );
}

// Of the rows of one model, by number of threads: drift is that of the first that ran.
function nativeFacts(rows: NativeRow[]): Pick<FigureRow, 'error'> & { native?: number | null } {
  const ran = rows.find(({ worst_sqnr_db }) => worst_sqnr_db !== undefined);
  const error = rows.find((row) => row.error !== undefined)?.error;
  return { ...(ran && { native: ran.worst_sqnr_db! }), ...(error !== undefined && { error }) };
}

function rowOf(
  head: Pick<FigureRow, 'owner' | 'label' | 'bytes'>, times: Timing[], browser: number | undefined, rows: NativeRow[],
): FigureRow {
  const { error, ...native } = nativeFacts(rows);
  return {
    ...head, times: [...times, ...natively(rows)],
    db: { ...(browser !== undefined && { browser }), ...native },
    ...(error !== undefined && { error }),
  };
}

const fitted = (run: Run) => (run.native ? fitting(run.native.report, run, '') : []);

export function figuresOf(run: Run, pinned: Run | null): Figures {
  const groups = fitted(run);
  const rows = [
    rowOf(
      { owner: 'float', label: 'FP32', bytes: run.source.bytes }, inBrowser(run, 'reference'), undefined,
      groups.map(({ baseline }) => baseline),
    ),
    rowOf(
      { owner: 'run', label: 'This run', bytes: outputBytes(run) }, inBrowser(run, 'candidate'),
      run.comparison?.worst_sqnr_db, groups.map(({ candidate }) => candidate),
    ),
  ];
  if (pinned) {
    rows.push(rowOf(
      { owner: 'pin', label: 'Pinned', bytes: outputBytes(pinned) }, inBrowser(pinned, 'candidate'),
      pinned.comparison?.worst_sqnr_db, fitted(pinned).map(({ candidate }) => candidate),
    ));
  }
  for (const [i, { name, file_bytes }] of (groups[0]?.others ?? []).entries()) {
    const head = { owner: 'other', label: name, bytes: file_bytes } as const;
    rows.push(rowOf(head, [], undefined, groups.flatMap(({ others }) => others[i] ?? [])));
  }
  const columns: Column[] = [];
  for (const { times } of rows) {
    for (const { where, threads } of times) {
      if (!columns.some((known) => sameColumn(known, { where, threads }))) columns.push({ where, threads });
    }
  }
  columns.sort((a, b) => a.where.localeCompare(b.where) || a.threads - b.threads);
  return { columns, rows };
}

export interface Ratio {
  threads: number;
  browser_ms: number;
  native_ms: number;
  /** How many times as long a run takes in the browser: of medians, with as many threads on both sides. */
  browser_to_native: number;
}

export function ratiosOf(row: FigureRow): Ratio[] {
  return row.times
    .filter(({ where }) => where === 'browser')
    .flatMap(({ threads, median_ms: browser_ms }) => {
      const native_ms = timingIn(row, { where: 'native', threads })?.median_ms;
      return native_ms ? [{ threads, browser_ms, native_ms, browser_to_native: browser_ms / native_ms }] : [];
    });
}

/** Whether both sides ran on one machine, as far as a page can know. */
export type Machines = 'same' | 'perhaps other' | 'other';

export function machinesOf(native: Native, coresHere: number): Machines {
  const { cores } = native.report.environment;
  if (cores !== coresHere) return native.file === null ? 'perhaps other' : 'other';
  return native.file === null ? 'same' : 'perhaps other';
}

const cpuText = ({ report: { environment } }: Native) =>
  `${environment.cpu || 'an unnamed processor'}, ${plural(environment.cores, 'core')}`;

/** What ratios between browser and native go across, in sentences. */
export function acrossText(native: Native, { comparison }: Run): string {
  const browser = comparison?.environment;
  if (!browser) return '';
  const runtimes = `Ratios go across runtimes: ${browser.runtime}, ONNX Runtime ${native.report.runtime} natively`;
  const machines = machinesOf(native, browser.cores);
  if (machines === 'same') return `${runtimes}; both ran on this computer (${cpuText(native)}).`;
  const here = `this browser has ${plural(browser.cores, 'core')}`;
  if (machines === 'other') {
    return `${runtimes}, and, by their cores, across machines: the report was made on ${cpuText(native)}; ${here}.`;
  }
  return native.file === null
    ? `${runtimes}, and perhaps across machines: the server runs on ${cpuText(native)}; ${here}.`
    : `${runtimes}, and across machines unless this is the one: the report was made on ${cpuText(native)}; ${here}.`;
}

/** Where both sides ran on different inputs, what those were: shapes, and so times, may differ then. */
export function inputsText({ report }: Native, { comparison }: Run): string {
  const here = comparison?.samples.description;
  if (here === undefined || here === report.samples_description) return `On ${report.samples_description}.`;
  return `In the browser on ${here}; natively on ${report.samples_description}.`;
}

/** As the core judged it where it was measured, with the fewest threads: one, unless something else was asked for. */
export function nativeVerdict(run: Run): Verdict | null {
  return fitted(run)[0]?.candidate.verdict ?? null;
}

/** With one thread, as the runs' other speeds are. */
export const nativeSpeedup = (run: Run): Speedup | null =>
  fitted(run).find(({ threads }) => threads === 1)?.candidate.speedup ?? null;
