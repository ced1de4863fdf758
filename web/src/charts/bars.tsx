// Bars from zero, each with its name before it and its number behind it.
import { Figure } from './frame';
import { fromZero, shorten, textWidth } from './scale';

/** Whose number it is; colours and shapes follow. */
export type Owner = 'float' | 'run' | 'pin' | 'other';

export interface Bar {
  owner: Owner;
  label: string;
  value: number;
  text: string;
}

interface Props {
  title: string;
  bars: Bar[];
  /** Rows to keep a place for, where more may come. */
  rows?: number;
  note?: string;
}

export const ROW = 34;
export const THICK = 18;
const SIZE = 14;

export function Bars({ title, bars, rows = bars.length, note }: Props) {
  const most = Math.max(...bars.map(({ value }) => value), 0);
  const label = `${title}: ${bars.map((bar) => `${bar.label} ${bar.text}`).join(', ')}`;
  const table = { head: ['model', title.toLowerCase()], rows: bars.map((bar) => [bar.label, bar.text]) };
  return (
    <Figure title={title} label={label} height={rows * ROW} table={table} note={note}>
      {(width) => {
        const names = Math.min(width * 0.36, Math.max(...bars.map((bar) => textWidth(bar.label, SIZE))) + 14);
        const numbers = Math.max(...bars.map((bar) => textWidth(bar.text, SIZE))) + 8;
        const x = fromZero(most, 0, Math.max(20, width - names - numbers));
        return (
          <>
            {bars.map((bar, row) => {
              const top = row * ROW + (ROW - THICK) / 2;
              const middle = row * ROW + ROW / 2;
              return (
                <g key={bar.owner} class={`own-${bar.owner}`}>
                  <text class="name" x="0" y={middle} dy="0.35em">
                    <title>{bar.label}</title>
                    {shorten(bar.label, names - 8, SIZE)}
                  </text>
                  <rect class="mark" x={names} y={top} width={Math.max(1.5, x(bar.value))} height={THICK} rx="2" />
                  <text class="number" x={names + x(bar.value) + 7} y={middle} dy="0.35em">
                    {bar.text}
                  </text>
                </g>
              );
            })}
            <line class="axis" x1={names} x2={names} y1="3" y2={bars.length * ROW - 3} />
          </>
        );
      }}
    </Figure>
  );
}
