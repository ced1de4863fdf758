// Candidates by speed and drift: to the right is faster, up is nearer. Area is size, the line through the best is the
// front, and what lies below the floor is not chosen; the floor can be dragged.
import { bytesText, dbText, timesText } from '../format';
import { Figure } from './frame';
import { between, textWidth, ticks } from './scale';

export interface ParetoPoint {
  key: number;
  name: string;
  speedup: { ratio: number; low: number; high: number };
  /** Decibels, 200 where outputs are equal. */
  db: number;
  bytes: number;
  isFloat: boolean;
  front: boolean;
  more: string[];
}

/** The same candidate as the point with its key, where octet serve timed it. */
export type NativePoint = Pick<ParetoPoint, 'key' | 'name' | 'speedup' | 'db' | 'bytes'>;

interface Props {
  points: ParetoPoint[];
  natively: NativePoint[];
  /** Of FP32 as it came. */
  bytes: number;
  /** The floor that was asked for, and the one that is tried; null where the budget is another. */
  asked: number | null;
  floor: number | null;
  /** What is tried, in words. */
  budget: string;
  /** What would be chosen then. */
  chosen: number | null;
  selected: number | null;
  note: string;
  onFloor(db: number): void;
  onSelect(key: number): void;
}

const HEIGHT = 340, TOP = 34, FOOT = 44, LEFT = 46, RIGHT = 14;
const EQUAL = 200, FAR = 80; // what is nearer than that stands in one row at the top
const MOST_RADIUS = 15, LEAST_RADIUS = 4;

export const PARETO_HEIGHT = HEIGHT;

/** From the lowest to the highest decibels that are drawn; `asked` is among them. */
export function rangeOf(points: { db: number }[], asked: number | null): [number, number] {
  const near = points.map(({ db }) => db).filter((db) => db <= FAR), all = asked === null ? near : [...near, asked];
  if (all.length === 0) return [0, FAR];
  const low = Math.min(...all) - 8, high = Math.max(...all) + 6;
  return [Math.max(0, Math.floor(low / 5) * 5), Math.ceil(high / 5) * 5];
}

function frontOf(points: ParetoPoint[]): ParetoPoint[] {
  const best: ParetoPoint[] = [];
  for (const point of [...points].sort((a, b) => b.speedup.ratio - a.speedup.ratio || b.db - a.db)) {
    if (point.db > (best.at(-1)?.db ?? -EQUAL)) best.push(point);
  }
  return best.reverse();
}

const speedText = ({ ratio, low, high }: ParetoPoint['speedup']) =>
  `${timesText(ratio)} (${timesText(low)} to ${timesText(high)})`;

export function Pareto({ points, natively, bytes, asked, floor, budget, chosen, selected, note, onFloor, onSelect }: Props) {
  const all = [...points, ...natively], [lowest, highest] = rangeOf(all, asked);
  const fastest = Math.max(1.4, ...all.map(({ speedup }) => Math.min(speedup.high, speedup.ratio * 1.3))) * 1.06;
  const slowest = Math.max(0, Math.min(0.8, ...all.map(({ speedup }) => speedup.ratio)) - 0.1);
  const best = points.find(({ key }) => key === chosen);
  const label = `${points.length} candidates; at ${budget}: ${best
    ? `${best.name}, ${timesText(best.speedup.ratio)}, ${dbText(best.db)}` : 'none'}${natively.length > 0
    ? `; ${natively.length} of them natively too` : ''}`;
  const rows = points.map(({ name, speedup, db, bytes: size, front, more, key }) => [
    name, speedText(speedup), dbText(db), bytesText(size), ...more, key === chosen ? 'chosen' : front ? 'front' : '',
  ]);
  const native = natively.map(({ name, speedup, db, bytes: size }) => [
    `${name}, natively`, speedText(speedup), dbText(db), bytesText(size), '', '', '', '',
  ]);
  const table = {
    head: ['candidate', 'speed', 'drift', 'size', 'single samples', 'nodes out of integers', 'right answers lost', 'standing'],
    rows: [['FP32, as given', '1.0×', 'equal', bytesText(bytes), '', '', '', ''], ...rows, ...native],
  };
  return (
    <Figure title="Speed and drift of what was tried" label={label} height={HEIGHT} table={table} note={note} class="pareto">
      {(width) => {
        const bottom = HEIGHT - FOOT, right = width - RIGHT;
        const x = between(slowest, fastest, LEFT, right), y = between(lowest, highest, bottom, TOP);
        const up = (db: number) => (db > highest ? TOP - 16 : y(Math.max(lowest, db)));
        const along = (ratio: number) => x(Math.max(slowest, Math.min(fastest, ratio)));
        const radius = (size: number) => Math.max(LEAST_RADIUS, MOST_RADIUS * Math.sqrt(size / bytes));
        const line = frontOf(points).map(({ speedup, db }) => `${along(speedup.ratio).toFixed(1)} ${up(db).toFixed(1)}`);
        const at = floor === null ? null : y(Math.max(lowest, Math.min(highest, floor)));
        const drag = (event: PointerEvent) => {
          const svg = (event.currentTarget as Element).closest('svg')!, box = svg.getBoundingClientRect();
          const place = ((event.clientY - box.top) / box.height) * HEIGHT;
          const db = lowest + ((bottom - place) / (bottom - TOP)) * (highest - lowest);
          onFloor(Math.round(Math.max(lowest, Math.min(highest, db)) * 2) / 2);
        };
        const begin = (event: PointerEvent) => {
          (event.currentTarget as Element).setPointerCapture(event.pointerId);
          drag(event);
        };
        const held = (event: PointerEvent) => event.buttons > 0 && drag(event);
        return (
          <>
            {ticks(highest, 8).filter((value) => value >= lowest).map((value) => (
              <g key={value}>
                <line class="grid" x1={LEFT} x2={right} y1={y(value)} y2={y(value)} />
                <text class="tick" x={LEFT - 12} y={y(value)} dy="0.35em" text-anchor="end">{value}</text>
              </g>
            ))}
            <text class="tick" x={LEFT - 12} y={bottom + 17} text-anchor="end">dB</text>
            <text class="tick" x={LEFT - 12} y={TOP - 16} dy="0.35em" text-anchor="end">{`> ${highest}`}</text>
            {ticks(fastest, width < 500 ? 5 : 10).filter((value) => value >= slowest).map((value) => (
              <text key={value} class="tick" x={x(value)} y={bottom + 17} text-anchor="middle">{`${value}×`}</text>
            ))}
            <text class="tick" x={right} y={HEIGHT - 6} text-anchor="end">
              {natively.length > 0 ? 'speed against FP32: ● in this browser, ◆ natively' : 'speed against FP32 in this browser'}
            </text>
            {at !== null && <rect class="below" x={LEFT} y={at} width={right - LEFT} height={Math.max(0, bottom - at)} />}
            <line class="axis" x1={LEFT} x2={right} y1={bottom} y2={bottom} />
            <line class="even" x1={x(1)} x2={x(1)} y1={TOP - 22} y2={bottom} />
            {line.length > 1 && <path class="front" d={`M${line.join('L')}`} />}
            {points.map((point) => (
              <Candidate
                key={point.key} point={point} x={along} y={up(point.db)} r={radius(point.bytes)} chosen={point.key === chosen}
                selected={point.key === selected}
              />
            ))}
            {natively.map((point) => (
              <Native
                key={point.key} point={point} x={along} y={up(point.db)} r={radius(point.bytes)}
                here={points.find(({ key }) => key === point.key)} up={up}
              />
            ))}
            <g class="own-float">
              <circle class="mark" cx={x(1)} cy={TOP - 16} r={radius(bytes)}><title>FP32, as given</title></circle>
              <text class="name haloed" x={x(1)} y={TOP + radius(bytes) - 2} text-anchor="middle">FP32</text>
            </g>
            {at !== null && (
              <g class="floor" onPointerDown={begin} onPointerMove={held}>
                <rect class="catch" x={LEFT} y={at - 14} width={right - LEFT} height="28" />
                <line x1={LEFT} x2={right} y1={at} y2={at} />
                <path class="grip" d={`M${LEFT} ${at}l-9 -7v14z`} />
                <text class="number haloed" x={LEFT + 5} y={at + 17}>{`lowest: ${floor} dB`}</text>
              </g>
            )}
            {points.map(({ key, speedup, db, bytes: size }) => (
              <circle
                key={key} class="catch" cx={along(speedup.ratio)} cy={up(db)} r={Math.max(11, radius(size))}
                onClick={() => onSelect(key)}
              />
            ))}
            {best && (
              <Words
                point={best} x={x(best.speedup.ratio)} y={up(best.db)} r={radius(best.bytes)} right={right}
                taken={all.filter((one) => one !== best).map(({ speedup, db }) => [along(speedup.ratio), up(db)])}
              />
            )}
          </>
        );
      }}
    </Figure>
  );
}

interface CandidateProps {
  point: ParetoPoint;
  x: (ratio: number) => number;
  y: number;
  r: number;
  chosen: boolean;
  selected: boolean;
}

function Candidate({ point, x, y, r, chosen, selected }: CandidateProps) {
  const { name, speedup, db, bytes, front, isFloat } = point;
  const kind = `${isFloat ? 'own-float' : 'own-run'} ${front ? 'on-front' : 'outdone'}`;
  return (
    <g class={`${kind} ${chosen ? 'would-be' : ''} ${selected ? 'chosen' : ''}`} data-candidate={point.key}>
      <title>{`${name}: ${speedText(speedup)}, ${dbText(db)}, ${bytesText(bytes)}`}</title>
      <line class="interval" x1={x(speedup.low)} x2={x(speedup.high)} y1={y} y2={y} />
      <circle class="mark" cx={x(speedup.ratio)} cy={y} r={r} />
      {(chosen || selected) && <circle class="ring" cx={x(speedup.ratio)} cy={y} r={r + 4} />}
    </g>
  );
}

interface NativeProps {
  point: NativePoint;
  x: (ratio: number) => number;
  up: (db: number) => number;
  y: number;
  r: number;
  /** The same candidate in the browser. */
  here: ParetoPoint | undefined;
}

// A square on its corner, with the area of the circle that it stands for.
function Native({ point: { key, name, speedup, db, bytes }, x, up, y, r, here }: NativeProps) {
  const at = x(speedup.ratio), half = r * Math.sqrt(Math.PI / 2);
  return (
    <g class="natively" data-native={key}>
      <title>{`${name}, natively: ${speedText(speedup)}, ${dbText(db)}, ${bytesText(bytes)}`}</title>
      {here && <line class="same" x1={x(here.speedup.ratio)} x2={at} y1={up(here.db)} y2={y} />}
      <line class="interval" x1={x(speedup.low)} x2={x(speedup.high)} y1={y} y2={y} />
      <path class="mark" d={`M${at} ${y - half}l${half} ${half}l${-half} ${half}l${-half} ${-half}z`} />
    </g>
  );
}

interface WordsProps {
  point: ParetoPoint;
  x: number;
  y: number;
  r: number;
  right: number;
  /** Places of other marks. */
  taken: [number, number][];
}

// The size of what would be chosen: beside its point where no mark is in the way, else above it.
function Words({ point, x, y, r, right, taken }: WordsProps) {
  const text = bytesText(point.bytes), wide = textWidth(text, 14) + r + 10;
  const free = (from: number, to: number) => !taken.some(([across, up]) =>
    across > from - LEAST_RADIUS && across < to + LEAST_RADIUS && Math.abs(up - y) < MOST_RADIUS);
  const after = x + wide <= right && free(x + r, x + wide), before = !after && free(x - wide, x - r);
  const anchor = after ? 'start' : before ? 'end' : 'middle';
  return (
    <text
      class="number haloed" x={after ? x + r + 8 : before ? x - r - 8 : Math.min(x, right - wide / 2)}
      y={after || before ? y : y - r - 14} dy="0.35em" text-anchor={anchor}
    >
      {text}
    </text>
  );
}
