// Layers side by side: a bar for the error that is asked for, a dot for all error up to there where that is another.
import { percentText } from '../format';
import { Figure } from './frame';
import { between, errorShare, fromZero, shorten, ticks } from './scale';

export interface StripLayer {
  key: string;
  name: string;
  /** Decibels; null where it is no number. */
  bar: number | null;
  /** Decibels of the layer's value against the float model's. */
  soFar?: number | null;
}

interface Props {
  title: string;
  layers: StripLayer[];
  /** What bars stand for, in words. */
  bars: string;
  /** What stands at both ends: "worst" and "best". */
  ends: [string, string];
  selected: string | null;
  onSelect?: (key: string) => void;
}

const HEIGHT = 190;
const TOP = 26;
const FOOT = 24;
const LEFT = 50;

const share = (db: number | null | undefined) => (db === undefined ? 0 : Math.min(1, errorShare(db)));

export function errorText(db: number | null | undefined): string {
  if (db === undefined) return '–';
  const error = errorShare(db);
  if (!Number.isFinite(error)) return 'not finite';
  return error >= 0.0995 || error === 0 ? percentText(error) : `${Number((100 * error).toPrecision(2))} %`;
}

export function Strip({ title, layers, bars, ends, selected, onSelect }: Props) {
  const dots = layers.some(({ soFar }) => soFar !== undefined);
  const most = Math.max(...layers.flatMap(({ bar, soFar }) => [share(bar), share(soFar)]), 1e-4) * 1.05;
  const table = {
    head: ['layer', bars, ...(dots ? ['all up to there'] : [])],
    rows: layers.map(({ name, bar, soFar }) => [name, errorText(bar), ...(dots ? [errorText(soFar)] : [])]),
  };
  const first = layers[0] ? `${layers[0].name} ${errorText(layers[0].bar)}` : 'none';
  const label = `${layers.length} layers; ${ends[0]}: ${first}`;
  const note = `Bars: ${bars}.${dots ? ' Dots: all error up to there.' : ''} In percent of the values’ own size.`;
  return (
    <Figure title={title} label={label} height={HEIGHT} table={table} note={note} class="strip">
      {(width) => {
        const floor = HEIGHT - FOOT;
        const right = width - 4;
        const y = fromZero(most, floor, TOP);
        const x = between(0, layers.length, LEFT, right);
        const wide = (right - LEFT) / layers.length;
        const thick = Math.max(1, Math.min(28, wide * 0.76));
        const chosen = layers.findIndex(({ key }) => key === selected);
        const pick = (event: MouseEvent) => {
          const box = (event.currentTarget as Element).getBoundingClientRect();
          const at = Math.floor(((event.clientX - box.left) / box.width) * layers.length);
          onSelect?.(layers[Math.min(layers.length - 1, Math.max(0, at))]!.key);
        };
        return (
          <>
            {ticks(most, 4).map((value) => (
              <g key={value}>
                <line class="grid" x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
                <text class="tick" x={LEFT - 8} y={y(value)} dy="0.35em" text-anchor="end">
                  {shareTick(value)}
                </text>
              </g>
            ))}
            {layers.map(({ key, name, bar, soFar }, i) => {
              const middle = x(i + 0.5);
              const height = floor - y(share(bar));
              return (
                <g key={key} class={i === chosen ? 'own-run chosen' : 'own-run'}>
                  <title>{`${name}: ${errorText(bar)}`}</title>
                  <rect
                    class="mark"
                    x={middle - thick / 2}
                    width={thick}
                    y={floor - height}
                    height={Math.max(0, height)}
                  />
                  {soFar !== undefined && (
                    <circle
                      class="so-far"
                      cx={middle}
                      cy={y(share(soFar))}
                      r={Math.max(1.4, Math.min(4, wide * 0.34))}
                    />
                  )}
                </g>
              );
            })}
            {chosen >= 0 && <Pointer at={x(chosen + 0.5)} width={width} name={layers[chosen]!.name} />}
            <line class="axis" x1={LEFT} x2={width} y1={floor} y2={floor} />
            <text class="tick" x={LEFT} y={HEIGHT - 6}>
              {ends[0]}
            </text>
            <text class="tick" x={width - 2} y={HEIGHT - 6} text-anchor="end">{`${ends[1]} of ${layers.length}`}</text>
            {onSelect && <rect class="catch" x={LEFT} y="0" width={right - LEFT} height={HEIGHT} onClick={pick} />}
          </>
        );
      }}
    </Figure>
  );
}

const shareTick = (value: number) => `${Number((100 * value).toPrecision(3))} %`;

function Pointer({ at, width, name }: { at: number; width: number; name: string }) {
  const right = at > (LEFT + width) / 2;
  const room = (right ? at : width - at) - 8;
  return (
    <g class="pointer">
      <line x1={at} x2={at} y1="4" y2={HEIGHT - FOOT} />
      <text class="name haloed" x={at + (right ? -6 : 6)} y="14" text-anchor={right ? 'end' : 'start'}>
        {shorten(name, room)}
      </text>
    </g>
  );
}
