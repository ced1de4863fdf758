// Every timed run is a dot, on an axis that begins at zero; the middle half is a band, the median a stroke, its
// number beside them.
import { msText, timesText } from '../format';
import type { Owner } from './bars';
import { Figure } from './frame';
import { fromZero, quantile, shorten, swarm, textWidth, ticks } from './scale';

export interface Times {
  owner: Owner;
  label: string;
  ms: number[];
}

export interface LatencyGroup {
  /** "1 thread" */
  label: string;
  rows: Times[];
  speedup?: { ratio: number; low: number; high: number };
}

const HEAD = 24;
const ROW = 40;
const AXIS = 34;
const DOT = 4.4;
const SIZE = 14;

const heightOf = (groups: { rows: unknown[] }[]) =>
  groups.reduce((sum, group) => sum + HEAD + ROW * group.rows.length, 0) + AXIS;

/** Of `groups` thread counts with `rows` each: kept free before they are there. */
export const latencyHeight = (groups: number, rows: number) =>
  heightOf(Array.from({ length: groups }, () => ({ rows: Array<null>(rows) })));

// Beyond this runs were disturbed; they are drawn at the edge, with their number.
function farthest(groups: LatencyGroup[]): number {
  const rows = groups.flatMap((group) => group.rows.map(({ ms }) => ms));
  return Math.max(
    ...rows.map((ms) => Math.min(Math.max(...ms), Math.max(quantile(ms, 0.95), 1.4 * quantile(ms, 0.5)))),
    1e-6,
  );
}

export function speedupText({ ratio, low, high }: NonNullable<LatencyGroup['speedup']>): string {
  const interval = `${timesText(low)} to ${timesText(high)} in 90 % of resamples`;
  return `${timesText(ratio)} the speed (${interval})`;
}

function tableOf(groups: LatencyGroup[]) {
  const rows = groups.flatMap(({ label, rows: times }) =>
    times.map((row) => [
      row.label,
      label,
      ...[0.5, 0.25, 0.75, 0, 1].map((share) => msText(quantile(row.ms, share))),
      String(row.ms.length),
    ]),
  );
  return { head: ['model', 'threads', 'median', 'quarter below', 'quarter above', 'fastest', 'slowest', 'timed'], rows };
}

interface Props {
  title?: string;
  groups: LatencyGroup[];
  note?: string;
}

export function Latency({ title = 'Latency', groups, note }: Props) {
  const most = farthest(groups) * 1.04;
  const said = groups.flatMap(({ label, rows }) =>
    rows.map((row) => `${row.label} with ${label} ${msText(quantile(row.ms, 0.5))}`),
  );
  const words = groups.flatMap(({ rows }) => rows.flatMap((row) => [row.label, msText(quantile(row.ms, 0.5))]));
  const longest = Math.max(...words.map((word) => textWidth(word, SIZE))) + 14;
  const height = heightOf(groups);
  return (
    <Figure title={title} label={`Medians: ${said.join(', ')}`} height={height} table={tableOf(groups)} note={note}>
      {(width) => {
        const names = Math.min(longest, width * 0.4);
        const x = fromZero(most, names, width - 12);
        const marks = ticks(most, Math.max(2, Math.floor((width - names) / 70)));
        let top = 0;
        return (
          <>
            {marks.map((value) => (
              <g key={value}>
                <line class="grid" x1={x(value)} x2={x(value)} y1={HEAD - 4} y2={height - AXIS} />
                <text class="tick" x={x(value)} y={height - AXIS + 16} text-anchor="middle">
                  {value}
                </text>
              </g>
            ))}
            <text class="tick" x={width - 2} y={height - 3} text-anchor="end">
              milliseconds per run
            </text>
            {groups.map((group) => {
              const head = top;
              top += HEAD + ROW * group.rows.length;
              return (
                <g key={group.label}>
                  <text class="group" x="0" y={head + 15}>
                    {group.label}
                  </text>
                  {group.speedup && (
                    <text class="group strong" x={width - 2} y={head + 15} text-anchor="end">
                      {`${timesText(group.speedup.ratio)} the speed`}
                    </text>
                  )}
                  {group.rows.map((row, i) => (
                    <Row
                      key={i}
                      times={row}
                      x={x}
                      most={most}
                      middle={head + HEAD + ROW * i + ROW / 2}
                      width={width}
                      room={names - 8}
                    />
                  ))}
                </g>
              );
            })}
          </>
        );
      }}
    </Figure>
  );
}

interface RowProps {
  times: Times;
  x: (ms: number) => number;
  most: number;
  middle: number;
  width: number;
  /** Of the name. */
  room: number;
}

function Row({ times: { owner, label, ms }, x, most, middle, width, room }: RowProps) {
  const median = quantile(ms, 0.5);
  const beyond = ms.filter((value) => value > most).length;
  const places = ms.map(x);
  const offsets = swarm(places, DOT);
  const tallest = Math.max(...offsets.map(Math.abs), 1);
  const step = Math.min(DOT, (ROW / 2 - 5) / tallest);
  return (
    <g class={`own-${owner}`}>
      <text class="name" x="0" y={middle - 9} dy="0.35em">
        {shorten(label, room, SIZE)}
      </text>
      <text class="number" x="0" y={middle + 9} dy="0.35em">
        {msText(median)}
      </text>
      <rect
        class="middle-half"
        x={x(quantile(ms, 0.25))}
        y={middle - ROW / 2 + 4}
        height={ROW - 8}
        width={Math.max(1, x(quantile(ms, 0.75)) - x(quantile(ms, 0.25)))}
      />
      {places.map((at, i) => (
        <circle key={i} class="dot" cx={at.toFixed(1)} cy={(middle + offsets[i]! * step).toFixed(1)} r={DOT / 2} />
      ))}
      <line class="median" x1={x(median)} x2={x(median)} y1={middle - ROW / 2 + 2} y2={middle + ROW / 2 - 2} />
      {beyond > 0 && (
        <text class="tick" x={width - 2} y={middle + ROW / 2 - 4} text-anchor="end">{`${beyond} beyond →`}</text>
      )}
    </g>
  );
}
