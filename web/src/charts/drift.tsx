// How far each output is from before: decibels between signal and error, worst first. More is better.
import { agreementText, dbText } from '../format';
import { Figure } from './frame';
import { fromZero, shorten, ticks } from './scale';

export interface OutputRow {
  name: string;
  /** Null: not a number. */
  db: number | null;
  /** Instead of bars, where outputs cannot be compared. */
  whyNot?: string;
  error?: string;
  top1?: number | null;
  pinnedDb?: number | null;
}

const LINE = 18;
const THICK = 14;
const ROW = 44;
const AXIS = 36;
const MOST_ROWS = 5;
const SIZE = 13;

export const driftHeight = (outputs: number) => Math.min(outputs, MOST_ROWS) * ROW + AXIS;

const worth = (row: OutputRow) => (row.whyNot ? Number.POSITIVE_INFINITY : (row.db ?? -200));

function tableOf(rows: OutputRow[]) {
  const pinned = rows.some((row) => row.pinnedDb !== undefined);
  return {
    head: ['output', 'SQNR', 'largest error', 'same top 1', ...(pinned ? ['pinned run'] : [])],
    rows: rows.map((row) => [
      row.name,
      row.whyNot ?? dbText(row.db),
      row.error ?? '–',
      row.top1 == null ? '–' : agreementText(row.top1),
      ...(pinned ? [row.pinnedDb === undefined ? '–' : dbText(row.pinnedDb)] : []),
    ]),
  };
}

/** `floor`: below it an output counts as broken. */
export function DriftBars({ outputs, floor = 10, note }: { outputs: OutputRow[]; floor?: number; note?: string }) {
  const sorted = [...outputs].sort((a, b) => worth(a) - worth(b));
  const shown = sorted.slice(0, MOST_ROWS);
  const hidden = sorted.length - shown.length;
  const finite = outputs.flatMap(({ db, pinnedDb }) => [db, pinnedDb ?? null]).filter((db) => db !== null && db < 200);
  const most = Math.max(50, ...(finite as number[]).map((db) => db * 1.05));
  const label = `Drift, worst first: ${shown.map((row) => `${row.name} ${row.whyNot ?? dbText(row.db)}`).join(', ')}`;
  const height = driftHeight(outputs.length);
  const more = hidden > 0 ? `The worst ${shown.length} of ${sorted.length} outputs; the rest are in the numbers. ` : '';
  return (
    <Figure title="Drift" label={label} height={height} table={tableOf(sorted)} note={`${more}${note ?? ''}`}>
      {(width) => {
        const x = fromZero(most, 0, width - 66);
        return (
          <>
            {ticks(most, Math.max(2, Math.floor(width / 75))).map((db) => (
              <g key={db}>
                <line class="grid" x1={x(db)} x2={x(db)} y1="0" y2={height - AXIS} />
                <text class="tick" x={x(db)} y={height - AXIS + 16} text-anchor={db === 0 ? 'start' : 'middle'}>
                  {db}
                </text>
              </g>
            ))}
            <text class="tick" x={width - 2} y={height - 3} text-anchor="end">
              decibels of signal to error: more is better
            </text>
            <rect class="below" x="0" y="0" width={x(floor)} height={height - AXIS} />
            {shown.map((row, i) => (
              <Row key={row.name} row={row} top={i * ROW} x={x} width={width} />
            ))}
            <line class="axis" x1="0.5" x2="0.5" y1="0" y2={height - AXIS} />
          </>
        );
      }}
    </Figure>
  );
}

function Row({ row, top, x, width }: { row: OutputRow; top: number; x: (db: number) => number; width: number }) {
  const middle = top + LINE + 4 + THICK / 2;
  const agreement = row.top1 == null ? '' : `top 1 the same in ${agreementText(row.top1)}`;
  const room = width - (agreement ? agreement.length * 7.4 + 16 : 8);
  const end = x(row.db ?? 0);
  const pinned = row.pinnedDb == null ? null : x(row.pinnedDb);
  // The number stands behind the bar, or in it where the pinned run's mark is in the way.
  const inside = pinned !== null && pinned > end - 8 && pinned < end + 64 && end > 64;
  return (
    <g class="own-run">
      <text class="name" x="6" y={top + 15}>
        <title>{row.name}</title>
        {shorten(row.name, room, SIZE)}
      </text>
      <text class="tick" x={width - 2} y={top + 15} text-anchor="end">
        {agreement}
      </text>
      {row.whyNot ? (
        <text class="tick" x="6" y={middle} dy="0.35em">
          {row.whyNot}
        </text>
      ) : (
        <>
          <rect class="mark" x="0" y={middle - THICK / 2} width={Math.max(1.5, end)} height={THICK} rx="2" />
          <text
            class={inside ? 'number inside' : 'number haloed'}
            x={inside ? Math.min(end, pinned - 8) - 5 : end + 7}
            y={middle}
            dy="0.35em"
            text-anchor={inside ? 'end' : 'start'}
          >
            {dbText(row.db)}
          </text>
        </>
      )}
      {pinned !== null && (
        <path class="own-pin mark" d={`M${pinned} ${middle - 9}l6 9l-6 9l-6 -9z`}>
          <title>Pinned run: {dbText(row.pinnedDb!)}</title>
        </path>
      )}
    </g>
  );
}
