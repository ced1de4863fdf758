// What all charts share: a title, a picture as wide as its place, a sentence, and the same as a table to copy.
import { createContext } from 'preact';
import type { ComponentChildren } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import './charts.css';

export interface TableForm {
  head: string[];
  rows: string[][];
}

/** How wide pictures are until their place is known; nothing but this is known in a report, where no script runs. */
export const Printed = createContext<{ width: number } | null>(null);

const FIRST_WIDTH = 320;

interface PictureProps {
  height: number;
  label: string;
  children: (width: number) => ComponentChildren;
}

/** An SVG in CSS pixels: text keeps its size at any width. Its height is fixed, so nothing moves when it is drawn. */
export function Picture({ height, label, children }: PictureProps) {
  const printed = useContext(Printed);
  const place = useRef<HTMLDivElement>(null);
  const [measured, setMeasured] = useState(FIRST_WIDTH);
  useLayoutEffect(() => {
    if (printed) return;
    const take = () => setMeasured(Math.max(160, Math.floor(place.current!.clientWidth)));
    take();
    const observer = new ResizeObserver(take);
    observer.observe(place.current!);
    return () => observer.disconnect();
  }, [printed]);
  const width = printed?.width ?? measured;
  return (
    <div ref={place} class="chart-picture">
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 ${width} ${height}`}
        width="100%"
        height={printed ? undefined : height}
        preserveAspectRatio="xMinYMin meet"
      >
        {children(width)}
      </svg>
    </div>
  );
}

interface FigureProps {
  title: string;
  label: string;
  height: number;
  table: TableForm;
  note?: ComponentChildren;
  class?: string;
  children: (width: number) => ComponentChildren;
}

export function Figure({ title, label, height, table, note, children, class: kind = '' }: FigureProps) {
  return (
    <figure class={`chart ${kind}`}>
      <figcaption>{title}</figcaption>
      <Picture height={height} label={label}>
        {children}
      </Picture>
      {note && <p class="chart-note">{note}</p>}
      <AsTable title={title} table={table} />
    </figure>
  );
}

/** A place that says what will be drawn in it, as high as that will be. */
export function EmptyFigure({
  title,
  height,
  children,
}: {
  title: string;
  height: number;
  children: ComponentChildren;
}) {
  return (
    <figure class="chart empty-chart">
      <figcaption>{title}</figcaption>
      <Hold height={height}>{children}</Hold>
    </figure>
  );
}

// An SVG holds the height: style attributes are forbidden on the page.
function Hold({ height, children }: { height: number; children: ComponentChildren }) {
  return (
    <div class="hold">
      <svg width="1" height={height} aria-hidden="true" />
      <p>{children}</p>
    </div>
  );
}

export function AsTable({ title, table }: { title: string; table: TableForm }) {
  const printed = useContext(Printed);
  return (
    <details class="as-table">
      <summary>Numbers</summary>
      <div class="scroll" tabIndex={printed ? undefined : 0} role="region" aria-label={`${title} in numbers`}>
        <table>
          <thead>
            <tr>
              {table.head.map((word) => (
                <th key={word} scope="col">
                  {word}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map(([first, ...cells], row) => (
              <tr key={row}>
                <th scope="row">{first}</th>
                {cells.map((cell, i) => (
                  <td key={i}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!printed && <CopyButton label="Copy the table" text={() => tabbed(table)} />}
    </details>
  );
}

const tabbed = ({ head, rows }: TableForm) => [head, ...rows].map((cells) => cells.join('\t')).join('\n');

interface CopyProps {
  label: string;
  text: () => string;
  class?: string;
}

/** Says that it has copied, or how to copy by hand where the browser forbids it. */
export function CopyButton({ label, text, class: kind = 'quiet' }: CopyProps) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setSaid('Copied');
    } catch {
      setSaid('This browser does not allow it');
    }
    setTimeout(() => setSaid(''), 2500);
  };
  return (
    <button type="button" class={`copy ${kind}`} onClick={() => void copy()}>
      <span class={said ? 'unsaid' : ''}>{label}</span>
      <span class="said" role="status">
        {said}
      </span>
    </button>
  );
}
