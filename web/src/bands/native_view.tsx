// What a run takes here and natively, in one view: what each says, every timing, and the figures side by side. On the
// page, in reports and in pictures.
import { Printed } from '../charts/frame';
import { Latency } from '../charts/latency';
import type { LatencyGroup } from '../charts/latency';
import { useContext } from 'preact/hooks';
import { bytesText, dbText, msText, plural, timesText } from '../format';
import { acrossText, columnText, figuresOf, inputsText, nativeVerdict, ratiosOf, timingIn } from '../native/figures';
import type { Column, FigureRow, Figures, Native, Timing, Where } from '../native/figures';
import type { Run } from '../state/runs';
import { nativeSentence, sentenceOf, untimed } from '../take/verdict_words';
import '../native.css';

const WHERE: Record<Where, string> = { browser: 'In this browser', native: 'Natively' };

function Verdicts({ run }: { run: Run }) {
  const here = run.comparison && !untimed(run) ? run.comparison.verdict : null;
  const native = nativeVerdict(run);
  return (
    <dl class="verdicts">
      {here && (
        <div>
          <dt>{WHERE.browser}</dt>
          <dd class={here.judgement}>{sentenceOf(run.comparison!)}</dd>
        </div>
      )}
      {native && (
        <div>
          <dt>{WHERE.native}</dt>
          <dd class={native.judgement}>
            {nativeSentence(native)} {native.why && <span class="why">{native.why}</span>}
          </dd>
        </div>
      )}
    </dl>
  );
}

function groupsOf({ columns, rows }: Figures): LatencyGroup[] {
  // With as many threads, what ran here and what ran natively stand one above the other.
  const inOrder = [...columns].sort((a, b) => a.threads - b.threads || a.where.localeCompare(b.where));
  return inOrder.map((column) => {
    const speedup = timingIn(rows[1]!, column)?.speedup;
    return {
      label: columnText(column),
      ...(speedup && { speedup }),
      rows: rows.flatMap((row) => {
        const timing = timingIn(row, column);
        return timing ? [{ owner: row.owner, label: row.label, ms: timing.ms }] : [];
      }),
    };
  });
}

const spreadText = (ms: number) => (ms < 0.0005 ? '± 0' : `± ${msText(ms)}`);

function TimeCell({ timing }: { timing: Timing | null }) {
  if (!timing) return <td>–</td>;
  const { median_ms, mad_ms, speedup } = timing;
  return (
    <td>
      <strong>{msText(median_ms)}</strong>
      <small>{spreadText(mad_ms)}</small>
      {speedup && (
        <small class="speedup">
          {timesText(speedup.ratio)}{' '}
          <span class="interval">[{timesText(speedup.low)}, {timesText(speedup.high)}]</span>
        </small>
      )}
    </td>
  );
}

const driftCell = (db: number | null | undefined) => (db === undefined ? '–' : dbText(db));

function Head({ columns, shared }: { columns: Column[]; shared: number[] }) {
  const count = (where: Where) => columns.filter((column) => column.where === where).length;
  const groups: [string, number][] = [
    [WHERE.browser, count('browser')], [WHERE.native, count('native')], ['Browser : native', shared.length],
    ['Worst output', 2],
  ];
  return (
    <thead>
      <tr>
        <th scope="col" rowSpan={2}>model</th>
        <th scope="col" rowSpan={2}>size</th>
        {groups.map(([name, span]) => span > 0 && <th key={name} scope="colgroup" colSpan={span}>{name}</th>)}
      </tr>
      <tr>
        {columns.map((column) => <th key={columnText(column)} scope="col">{plural(column.threads, 'thread')}</th>)}
        {shared.map((threads) => <th key={threads} scope="col">{plural(threads, 'thread')}</th>)}
        <th scope="col">browser</th>
        <th scope="col">native</th>
      </tr>
    </thead>
  );
}

function Line({ row, columns, shared }: { row: FigureRow; columns: Column[]; shared: number[] }) {
  const ratios = ratiosOf(row);
  const isFloat = row.owner === 'float';
  return (
    <tr class={`own-${row.owner}`}>
      <th scope="row">{row.label}{row.error && <small>Does not run natively: {row.error}</small>}</th>
      <td>{bytesText(row.bytes)}</td>
      {columns.map((column) => <TimeCell key={columnText(column)} timing={timingIn(row, column)} />)}
      {shared.map((threads) => {
        const ratio = ratios.find((one) => one.threads === threads);
        return <td key={threads} class="ratio">{ratio ? timesText(ratio.browser_to_native) : '–'}</td>;
      })}
      <td>{isFloat ? '' : driftCell(row.db.browser)}</td>
      <td>{isFloat ? '' : driftCell(row.db.native)}</td>
    </tr>
  );
}

function Table({ figures: { columns, rows } }: { figures: Figures }) {
  const printed = useContext(Printed);
  const shared = [...new Set(rows.flatMap((row) => ratiosOf(row).map(({ threads }) => threads)))].sort((a, b) => a - b);
  return (
    <div class="scroll" tabIndex={printed ? undefined : 0} role="region" aria-label="Here and natively in numbers">
      <table class="native-table">
        <Head columns={columns} shared={shared} />
        <tbody>{rows.map((row) => <Line key={row.label} row={row} columns={columns} shared={shared} />)}</tbody>
      </table>
    </div>
  );
}

function made({ file, report: { created, octet, runs, cut_short } }: Native): string {
  const when = created && `, ${created.slice(0, 16).replace('T', ' ')} UTC`;
  const by = `${file === null ? 'octet serve' : `${file}, by octet bench`} ${octet}${when}`;
  return `${by}: ${plural(runs, 'run')} of each model, interleaved${cut_short ? '; fewer where the time was up' : ''}`;
}

export function NativeView({ run, pinned }: { run: Run; pinned: Run | null }) {
  const { native } = run;
  if (!native) return null;
  const figures = figuresOf(run, pinned);
  return (
    <div class="native-view">
      <Verdicts run={run} />
      <Latency
        title="Latency here and natively" groups={groupsOf(figures)} note="Every timing is a dot, the median a stroke."
      />
      <Table figures={figures} />
      <p class="setup">
        Times: median, ± median absolute deviation; below them the speed against FP32 in the same column, with the
        interval that holds 9 of 10 resamples. Browser : native: how many times as long a run takes in this browser.{' '}
        {acrossText(native, run)} {inputsText(native, run)}
      </p>
      <p class="setup">Natively: {made(native)}.</p>
      {pinned?.native && (
        <p class="setup">
          The pinned run by its own report: {made(pinned.native)}. {acrossText(pinned.native, pinned)}
        </p>
      )}
    </div>
  );
}
