// How often values occur, with the range that the integers cover drawn over it: what lies outside is cut off.
import { Figure } from './frame';
import { between, textWidth } from './scale';

export interface Spread {
  low: number;
  high: number;
  /** Equal bins from low to high. */
  counts: number[];
  nonFinite?: number;
}

interface Props {
  title: string;
  spread: Spread;
  /** What the integers cover. */
  range?: { low: number; high: number };
  note?: string;
}

export const HISTOGRAM_HEIGHT = 150;
const TOP = 40;
const FOOT = 22;
const SIZE = 12;

export function valueText(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-3 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
  return text.replace('-', '−');
}

/** Share of the counts in bins that lie outside, parts of bins by their width. */
export function outside({ low, high, counts }: Spread, range: { low: number; high: number }): number {
  const width = (high - low) / counts.length;
  let all = 0;
  let out = 0;
  counts.forEach((count, i) => {
    all += count;
    const from = low + i * width;
    const to = from + width;
    const inside = Math.max(0, Math.min(to, range.high) - Math.max(from, range.low));
    out += width > 0 ? count * (1 - inside / width) : 0;
  });
  return all > 0 ? out / all : 0;
}

/** The same in bins that are `count` times as wide. */
export function together({ low, high, counts }: Spread, count: number): Spread {
  const wide = Array.from({ length: Math.ceil(counts.length / count) }, (_, i) =>
    counts.slice(i * count, (i + 1) * count).reduce((sum, one) => sum + one, 0),
  );
  return { low, high, counts: wide };
}

export function shareText(share: number): string {
  if (share < 5e-6) return 'none';
  const percent = 100 * share;
  return percent < 0.01 ? 'under 0.01 %' : `${Number(percent.toPrecision(2))} %`;
}

function binsOf({ low, high, counts }: Spread): string[][] {
  const width = (high - low) / counts.length;
  return counts.flatMap((count, i) =>
    count > 0 ? [[valueText(low + i * width), valueText(low + (i + 1) * width), count.toLocaleString('en')]] : [],
  );
}

export function Histogram({ title, spread, range, note }: Props) {
  const { counts } = spread;
  const most = Math.log1p(Math.max(...counts, 1));
  const low = Math.min(spread.low, range?.low ?? spread.low);
  const high = Math.max(spread.high, range?.high ?? spread.high);
  const said = range ? `, range ${valueText(range.low)} to ${valueText(range.high)}` : '';
  return (
    <Figure
      class="histogram"
      title={title}
      height={HISTOGRAM_HEIGHT}
      note={note}
      label={`Values from ${valueText(spread.low)} to ${valueText(spread.high)}${said}`}
      table={{ head: ['from', 'to', 'values'], rows: binsOf(spread) }}
    >
      {(width) => {
        const x = between(low, high, 6, width - 6);
        const floor = HISTOGRAM_HEIGHT - FOOT;
        const y = (count: number) => floor - (Math.log1p(count) / most) * (floor - TOP);
        const wide = (spread.high - spread.low) / counts.length;
        const steps = counts
          .map((count, i) => `V${y(count).toFixed(1)}H${x(spread.low + (i + 1) * wide).toFixed(1)}`)
          .join('');
        return (
          <>
            <path class="mark shape" d={`M${x(spread.low).toFixed(1)} ${floor}${steps}V${floor}Z`} />
            <line class="axis" x1="0" x2={width} y1={floor} y2={floor} />
            {low < 0 && high > 0 && <line class="zero" x1={x(0)} x2={x(0)} y1={floor} y2={floor + 5} />}
            <Ends low={low} high={high} x={x} width={width} />
            {range && <Range range={range} x={x} width={width} floor={floor} />}
          </>
        );
      }}
    </Figure>
  );
}

interface Placed {
  x: (value: number) => number;
  width: number;
}

function Ends({ low, high, x, width }: { low: number; high: number } & Placed) {
  const zero = low < 0 && high > 0 ? x(0) : null;
  const clear =
    zero !== null &&
    zero > textWidth(valueText(low), SIZE) + 16 &&
    zero < width - textWidth(valueText(high), SIZE) - 16;
  return (
    <g class="tick">
      <text x="2" y={HISTOGRAM_HEIGHT - 6}>
        {valueText(low)}
      </text>
      {clear && (
        <text x={zero!} y={HISTOGRAM_HEIGHT - 6} text-anchor="middle">
          0
        </text>
      )}
      <text x={width - 2} y={HISTOGRAM_HEIGHT - 6} text-anchor="end">
        {valueText(high)}
      </text>
    </g>
  );
}

function Range({
  range: { low, high },
  x,
  width,
  floor,
}: { range: { low: number; high: number }; floor: number } & Placed) {
  const from = x(low);
  const to = x(high);
  const words = `${valueText(low)} to ${valueText(high)}`;
  const room = textWidth(words, 13);
  const middle = Math.min(width - room / 2 - 2, Math.max(room / 2 + 2, (from + to) / 2));
  return (
    <g class="range">
      <rect class="cut" x="0" y={TOP - 12} width={Math.max(0, from)} height={floor - TOP + 12} />
      <rect class="cut" x={to} y={TOP - 12} width={Math.max(0, width - to)} height={floor - TOP + 12} />
      <path class="bracket" d={`M${from} ${floor}V${TOP - 12}H${to}V${floor}`} />
      <text class="name" x={middle} y={TOP - 20} text-anchor="middle">
        {words}
      </text>
    </g>
  );
}
