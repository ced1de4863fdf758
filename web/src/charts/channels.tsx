// The range of each channel of a weight, side by side: where they differ much, one scale for all loses.
import { Figure } from './frame';
import { valueText } from './histogram';
import { between } from './scale';

const HEIGHT = 110;
const LEFT = 58;

export function ChannelRanges({ title, channels }: { title: string; channels: { low: number; high: number }[] }) {
  const low = Math.min(0, ...channels.map((channel) => channel.low));
  const high = Math.max(0, ...channels.map((channel) => channel.high));
  const sizes = channels.map((channel) => Math.max(-channel.low, channel.high));
  const largest = Math.max(...sizes);
  const smallest = Math.min(...sizes);
  const times = Number((largest / smallest).toPrecision(2));
  const note =
    smallest > 0
      ? `The widest of ${channels.length} channels spans ${times} times the narrowest.`
      : `${channels.length} channels; some hold nothing but zeros.`;
  const table = {
    head: ['channel', 'lowest', 'highest'],
    rows: channels.map((channel, i) => [String(i), valueText(channel.low), valueText(channel.high)]),
  };
  return (
    <Figure class="histogram" title={title} label={note} height={HEIGHT} table={table} note={note}>
      {(width) => {
        const y = between(low, high, HEIGHT - 6, 8);
        const x = between(0, channels.length, LEFT, width - 2);
        const wide = (width - 2 - LEFT) / channels.length;
        const gap = wide > 3 ? wide * 0.2 : 0;
        const bar = (channel: { low: number; high: number }, i: number) => {
          const [bottom, top] = [y(channel.low).toFixed(1), y(channel.high).toFixed(1)];
          return `M${(x(i) + gap / 2).toFixed(1)} ${bottom}V${top}h${(wide - gap).toFixed(2)}V${bottom}Z`;
        };
        const shape = channels.map(bar).join('');
        return (
          <>
            <path class="mark shape" d={shape} />
            <line class="axis" x1={LEFT} x2={width} y1={y(0)} y2={y(0)} />
            <g class="tick">
              <text x={LEFT - 8} y={y(high)} dy="0.7em" text-anchor="end">
                {valueText(high)}
              </text>
              <text x={LEFT - 8} y={y(low)} text-anchor="end">
                {valueText(low)}
              </text>
            </g>
          </>
        );
      }}
    </Figure>
  );
}
