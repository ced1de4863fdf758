// The report of `octet bench --json`: its shape, and a reader that trusts nothing of it and drops what it does not know.
import { failure } from 'octet-wasm';
import type { AdviceCode, Drift, Latency, Verdict } from 'octet-wasm';

export interface Speedup {
  ratio: number;
  low: number;
  high: number;
}

/** One model with one number of threads. */
export interface NativeRow {
  /** File name of the model, without folders. */
  name: string;
  threads: number;
  file_bytes: number;
  /** Why it does not load or run; nothing below is there then. */
  error?: string;
  load_ms?: number;
  peak_memory_bytes?: number;
  latency?: Latency;
  milliseconds?: number[];
  outliers?: number;
  /** Against the first model with as many threads. */
  speedup?: Speedup;
  drift?: Drift[];
  /** Null where it is no number. */
  worst_sqnr_db?: number | null;
  verdict?: Verdict;
}

export interface NativeMachine {
  cpu: string;
  cores: number;
  features: string[];
}

export interface BenchReport {
  /** Version of Octet. */
  octet: string;
  /** ISO time; empty where the report does not say. */
  created: string;
  /** Version of ONNX Runtime. */
  runtime: string;
  environment: NativeMachine;
  warmup: number;
  runs: number;
  synthetic: boolean;
  samples_description: string;
  samples: number;
  cut_short: boolean;
  /** By number of threads, then in the order of the models; of each number the first is the baseline. */
  rows: NativeRow[];
}

export const MOST_BYTES = 64e6;
const MOST_ROWS = 1000, MOST_LETTERS = 10_000;
const MAKE_ANEW = 'make one with octet bench FLOAT INT8 --json > bench.json';

// Where somebody keeps samples is nobody else's business: reports and pictures are handed on.
function withoutFolders(description: string): string {
  const at = description.indexOf(' from ') + ' from '.length;
  const path = description.slice(at).replace(/[/\\]$/, '');
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  return at < ' from '.length ? description : description.slice(0, at) + name;
}

type Json = Record<string, unknown>;

class Reader {
  constructor(readonly file: string) {}

  wrong(path: string, expected: string): never {
    throw failure('data', `this looks like a bench report, but its “${path}” is not ${expected}`, MAKE_ANEW, this.file);
  }
  object(value: unknown, path: string): Json {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.wrong(path, 'an object');
    return value as Json;
  }
  list(value: unknown, path: string): unknown[] {
    return Array.isArray(value) ? value : this.wrong(path, 'a list');
  }
  text(value: unknown, path: string): string {
    return typeof value === 'string' && value.length <= MOST_LETTERS ? value : this.wrong(path, 'text');
  }
  flag(value: unknown, path: string): boolean {
    return typeof value === 'boolean' ? value : this.wrong(path, 'true or false');
  }
  any(value: unknown, path: string): number {
    return typeof value === 'number' && Number.isFinite(value) ? value : this.wrong(path, 'a number');
  }
  number(value: unknown, path: string): number {
    const number = this.any(value, path);
    return number >= 0 ? number : this.wrong(path, 'a number from 0');
  }
  count(value: unknown, path: string): number {
    const number = this.number(value, path);
    return Number.isSafeInteger(number) ? number : this.wrong(path, 'a whole number');
  }
  orNull(value: unknown, path: string): number | null {
    return value === null ? null : this.any(value, path);
  }
  oneOf<T extends string>(value: unknown, path: string, words: readonly T[]): T {
    return words.includes(value as T) ? (value as T) : this.wrong(path, `one of ${words.join(', ')}`);
  }

  latency(value: unknown, path: string): Latency {
    const from = this.object(value, path);
    const at = (key: keyof Latency) => this.number(from[key], `${path}.${key}`);
    return {
      runs: at('runs'), median_ms: at('median_ms'), mean_ms: at('mean_ms'), min_ms: at('min_ms'),
      max_ms: at('max_ms'), p90_ms: at('p90_ms'), stddev_ms: at('stddev_ms'), mad_ms: at('mad_ms'),
    };
  }

  speedup(value: unknown, path: string): Speedup {
    const from = this.object(value, path);
    const at = (key: keyof Speedup) => this.number(from[key], `${path}.${key}`);
    return { ratio: at('ratio'), low: at('low'), high: at('high') };
  }

  drift(value: unknown, path: string): Drift {
    const from = this.object(value, path);
    const orNull = (key: keyof Drift) => this.orNull(from[key], `${path}.${key}`);
    return {
      name: this.text(from.name, `${path}.name`),
      comparable: this.flag(from.comparable, `${path}.comparable`),
      ...(from.why_not !== undefined && { why_not: this.text(from.why_not, `${path}.why_not`) }),
      finite: this.flag(from.finite, `${path}.finite`),
      sqnr_db: orNull('sqnr_db'), cosine: orNull('cosine'), max_abs_error: orNull('max_abs_error'),
      max_abs: orNull('max_abs'),
      ...(from.top1_agreement !== undefined && { top1_agreement: orNull('top1_agreement') }),
      elements: this.number(from.elements, `${path}.elements`),
    };
  }

  verdict(value: unknown, path: string): Verdict {
    const from = this.object(value, path);
    const next = from.next === undefined ? [] : this.list(from.next, `${path}.next`);
    return {
      judgement: this.oneOf(from.judgement, `${path}.judgement`, ['ship', 'dont', 'cannot_tell']),
      decided_by: this.oneOf(from.decided_by, `${path}.decided_by`, ['drift', 'speed', 'size', 'nothing']),
      sentence: this.text(from.sentence, `${path}.sentence`),
      why: from.why === undefined ? '' : this.text(from.why, `${path}.why`),
      next: next.map((entry, i) => {
        const { code, text } = this.object(entry, `${path}.next[${i}]`);
        return {
          code: this.text(code, `${path}.next[${i}].code`) as AdviceCode,
          text: this.text(text, `${path}.next[${i}].text`),
        };
      }),
    };
  }

  row(value: unknown, path: string): NativeRow {
    const from = this.object(value, path);
    const head = {
      name: this.text(from.name, `${path}.name`),
      threads: Math.max(1, this.count(from.threads, `${path}.threads`)),
      file_bytes: this.count(from.file_bytes, `${path}.file_bytes`),
    };
    if (from.error !== undefined) return { ...head, error: this.text(from.error, `${path}.error`) };
    const times = this.list(from.milliseconds, `${path}.milliseconds`);
    if (times.length === 0) this.wrong(`${path}.milliseconds`, 'a list of times');
    const worst = from.worst_sqnr_db;
    return {
      ...head,
      load_ms: this.number(from.load_ms, `${path}.load_ms`),
      ...(from.peak_memory_bytes !== undefined && {
        peak_memory_bytes: this.number(from.peak_memory_bytes, `${path}.peak_memory_bytes`),
      }),
      latency: this.latency(from.latency, `${path}.latency`),
      milliseconds: times.map((time, i) => this.number(time, `${path}.milliseconds[${i}]`)),
      outliers: this.count(from.outliers, `${path}.outliers`),
      ...(from.speedup !== undefined && { speedup: this.speedup(from.speedup, `${path}.speedup`) }),
      ...(from.drift !== undefined && {
        drift: this.list(from.drift, `${path}.drift`).map((one, i) => this.drift(one, `${path}.drift[${i}]`)),
      }),
      ...(worst !== undefined && { worst_sqnr_db: this.orNull(worst, `${path}.worst_sqnr_db`) }),
      ...(from.verdict !== undefined && { verdict: this.verdict(from.verdict, `${path}.verdict`) }),
    };
  }

  report(from: Json): BenchReport {
    const { cpu, cores, features } = this.object(from.environment, 'environment');
    const rows = this.list(from.rows, 'rows');
    if (rows.length === 0 || rows.length > MOST_ROWS) this.wrong('rows', `a list of 1 to ${MOST_ROWS} models`);
    return {
      octet: this.text(from.octet, 'octet'),
      created: from.created === undefined ? '' : this.text(from.created, 'created'),
      runtime: this.text(from.runtime, 'runtime'),
      environment: {
        cpu: this.text(cpu, 'environment.cpu'),
        cores: this.count(cores, 'environment.cores'),
        features: this.list(features, 'environment.features').map((one) => this.text(one, 'environment.features')),
      },
      warmup: this.count(from.warmup, 'warmup'),
      runs: this.count(from.runs, 'runs'),
      synthetic: this.flag(from.synthetic, 'synthetic'),
      samples_description: withoutFolders(this.text(from.samples_description, 'samples_description')),
      samples: this.count(from.samples, 'samples'),
      cut_short: this.flag(from.cut_short, 'cut_short'),
      rows: rows.map((row, i) => this.row(row, `rows[${i}]`)),
    };
  }
}

/** Of JSON that has been read. `file` is for messages. Throws OctetError in words of people. */
export function readReport(value: unknown, file: string): BenchReport {
  const from = value as Json | null;
  if (typeof from !== 'object' || from === null || from.octet_report !== 'bench') {
    throw failure('data', 'this is no report of octet bench', MAKE_ANEW, file);
  }
  return new Reader(file).report(from);
}

export async function readReportFile(file: File): Promise<BenchReport> {
  if (file.size > MOST_BYTES) throw failure('data', 'this is too large for a report of octet bench', MAKE_ANEW, file.name);
  let value: unknown;
  try {
    value = JSON.parse(await file.text());
  } catch {
    throw failure('data', file.size === 0 ? 'this file is empty' : 'this is not JSON', MAKE_ANEW, file.name);
  }
  return readReport(value, file.name);
}
