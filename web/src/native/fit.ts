// Which rows of a bench report are about a run: the baseline by the float model's bytes, the candidate by the output's.
import { failure } from 'octet-wasm';
import { plural } from '../format';
import { outputBytes } from '../state/runs';
import type { Run } from '../state/runs';
import type { BenchReport, NativeRow } from './bench_report';

/** Rows with one number of threads. */
export interface Fitting {
  threads: number;
  baseline: NativeRow;
  candidate: NativeRow;
  /** Further models of the report. */
  others: NativeRow[];
}

const exactly = (bytes: number) => plural(bytes, 'byte');
const named = (rows: NativeRow[]) =>
  [...new Map(rows.map((row) => [row.name, row])).values()]
    .map(({ name, file_bytes }) => `${name} (${exactly(file_bytes)})`)
    .join(', ');

function groupsOf({ rows }: BenchReport): NativeRow[][] {
  const groups = new Map<number, NativeRow[]>();
  for (const row of rows) groups.set(row.threads, [...(groups.get(row.threads) ?? []), row]);
  return [...groups.values()].sort((a, b) => a[0]!.threads - b[0]!.threads);
}

// Where several models are as large as the output, the name decides.
function candidateIn(rows: NativeRow[], run: Run, file: string): NativeRow {
  const large = rows.filter(({ file_bytes }) => file_bytes === outputBytes(run));
  const same = large.filter(({ name }) => name === run.output.name);
  const [found, second] = same.length > 0 ? same : large;
  if (found && !second) return found;
  const wanted = `${run.output.name} has ${exactly(outputBytes(run))}`;
  if (found) {
    throw failure(
      'data', `${wanted}, and so have several models of the report: ${named(large)}`, `call one of them ${run.output.name}`,
      file,
    );
  }
  throw failure(
    'data', `this report is not about this run: ${wanted}, the report has ${named(rows) || 'no second model'}`,
    'download the output of this run and time that', file,
  );
}

/** Throws OctetError, which says what file sizes the report has, where it is about other models. */
export function fitting(report: BenchReport, run: Run, file: string): Fitting[] {
  return groupsOf(report).map(([baseline, ...rows]) => {
    if (baseline!.file_bytes !== run.source.bytes) {
      throw failure(
        'data', `this report is about another model: ${run.source.name} has ${exactly(run.source.bytes)}, the report begins ` +
          `with ${named([baseline!])}`,
        'name the float model first, then the output of this run', file,
      );
    }
    const candidate = candidateIn(rows, run, file), others = rows.filter((row) => row !== candidate);
    return { threads: baseline!.threads, baseline: baseline!, candidate, others };
  });
}
