// Zero-based bars with their numbers beside them; single runs as strokes over the bar.

export type BarRow = [label: string, value: number, text: string, points?: number[]];

const WIDTH = 240, BAR = 18;

export function Bars({ rows }: { rows: BarRow[] }) {
  // Runs beyond this are outliers that would squeeze the bars; they are drawn at the edge.
  const largest = Math.max(...rows.map(([, value, , points]) => Math.max(value, quantile(points ?? [], 0.95))), 1e-12);
  const x = (value: number) => (Math.min(value, largest) / largest) * (WIDTH - 1);
  return (
    <table class="bars">
      <tbody>
        {rows.map(([label, value, text, points], row) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            <td class="figure">{text}</td>
            <td class="bar">
              <svg viewBox={`0 0 ${WIDTH} ${BAR}`} preserveAspectRatio="none" aria-hidden="true">
                <rect class={row === 0 ? 'before' : 'after'} width={Math.max(1, x(value))} height={BAR} />
                {points?.map(x).map((at, i) => <line key={i} class="run" x1={at} x2={at} y1="4" y2={BAR - 4} />)}
              </svg>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
}
