// Two runs side by side: what differs in their options, what that does to size, speed and drift.
import { useEffect, useRef } from 'preact/hooks';
import { Bars } from '../charts/bars';
import type { Bar } from '../charts/bars';
import { bytesText, dbText, msText, percentText, timesText } from '../format';
import { outputBytes } from '../state/runs';
import type { Run } from '../state/runs';
import { driftText, modeOf, nativeSpeedText, oneThread, optionRows, speedText, verdictWord } from '../take/run_words';

interface Line {
  name: string;
  a: string;
  b: string;
}

export function compareOptions(a: Run, b: Run): Line[] {
  const rows = (run: Run) => new Map(optionRows({ ...run.options, mode: run.report.plan.mode }));
  const left = rows(a);
  const right = rows(b);
  const names = new Set([...left.keys(), ...right.keys()]);
  const lines = [...names].map((name) => ({ name, a: left.get(name) ?? 'default', b: right.get(name) ?? 'default' }));
  if (a.planFile !== b.planFile) lines.unshift({ name: 'plan', a: a.planFile ?? 'none', b: b.planFile ?? 'none' });
  if (a.name !== b.name) lines.unshift({ name: 'model', a: a.name, b: b.name });
  return lines;
}

const finite = (db: number | undefined) => db !== undefined && Math.abs(db) < 200;

/** "B is 12 % smaller and 1.3× as fast as A, and 4.2 dB further from the float model." */
export function compareSentence(a: Run, b: Run): string {
  const parts: string[] = [];
  const size = outputBytes(b) / outputBytes(a);
  if (Math.abs(size - 1) < 0.005) parts.push('as large as A');
  else parts.push(size < 1 ? `${percentText(1 - size)} smaller than A` : `${percentText(size - 1)} larger than A`);
  // Each against the float model that ran beside it: what else the machine did meanwhile then matters little.
  const speedA = oneThread(a)?.speedup.ratio;
  const speedB = oneThread(b)?.speedup.ratio;
  if (speedA && speedB) parts.push(`${timesText(speedB / speedA)} its speed`);
  const dbA = a.comparison?.worst_sqnr_db;
  const dbB = b.comparison?.worst_sqnr_db;
  if (finite(dbA) && finite(dbB)) {
    const further = dbA! - dbB!;
    parts.push(
      Math.abs(further) < 0.05
        ? 'equally near the float model'
        : `${dbText(Math.abs(further))} ${further > 0 ? 'further from' : 'nearer to'} the float model`,
    );
  }
  return `B is ${parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)!}` : parts[0]!}.`;
}

function figures(a: Run, b: Run): Line[] {
  const both = (name: string, text: (run: Run) => string) => ({ name, a: text(a), b: text(b) });
  const median = (run: Run) => {
    const timed = oneThread(run);
    return timed ? msText(timed.candidate.median_ms) : '–';
  };
  return [
    both('size', (run) => bytesText(outputBytes(run))),
    both('one run', median),
    both('speed', speedText),
    ...(a.native || b.native ? [both('speed natively', nativeSpeedText)] : []),
    both('worst output', driftText),
    both('verdict', verdictWord),
  ];
}

function Lines({ title, lines }: { title: string; lines: Line[] }) {
  return (
    <tbody>
      <tr class="part">
        <th scope="rowgroup" colSpan={3}>
          {title}
        </th>
      </tr>
      {lines.map(({ name, a, b }) => (
        <tr key={name} class={a === b ? '' : 'differs'}>
          <th scope="row">
            {name}
            {a !== b && <span class="visually-hidden"> differs</span>}
          </th>
          <td>{a}</td>
          <td>{b}</td>
        </tr>
      ))}
    </tbody>
  );
}

function bars(a: Run, b: Run, value: (run: Run) => number | undefined, text: (value: number) => string): Bar[] {
  return (
    [
      ['run', 'A', a],
      ['pin', 'B', b],
    ] as const
  ).flatMap(([owner, label, run]) => {
    const size = value(run);
    return size === undefined ? [] : [{ owner, label, value: size, text: text(size) }];
  });
}

export function CompareRuns({ a, b, onClose }: { a: Run; b: Run; onClose: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [a.id, b.id]);
  const options = compareOptions(a, b);
  const differ = options.filter((line) => line.a !== line.b);
  const speeds = bars(a, b, (run) => oneThread(run)?.speedup.ratio, timesText);
  const drifts = bars(a, b, (run) => (run.comparison ? Math.max(0, run.comparison.worst_sqnr_db) : undefined), dbText);
  return (
    <section class="compare" aria-labelledby="compare">
      <div class="title">
        <h3 id="compare" ref={heading} tabIndex={-1}>
          A and B side by side
        </h3>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      <p class="because">
        {compareSentence(a, b)}{' '}
        {differ.length === 0
          ? 'Their options are the same.'
          : `They differ in ${differ.map(({ name, a: left, b: right }) => `${name} (${left}, ${right})`).join('; ')}.`}
      </p>
      <div class="pictures">
        <Bars title="Size of A and B" bars={bars(a, b, outputBytes, bytesText)} />
        {speeds.length === 2 && <Bars title="Speed, one thread" bars={speeds} note="Against FP32, run beside each." />}
        {drifts.length === 2 && <Bars title="Worst output" bars={drifts} note="Decibels: more is better." />}
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Options and figures of both runs">
        <table class="two">
          <thead>
            <tr>
              <th scope="col">run</th>
              <th scope="col">
                <span class="key-a">A</span> {modeOf(a)}
              </th>
              <th scope="col">
                <span class="key-b">B</span> {modeOf(b)}
              </th>
            </tr>
          </thead>
          <Lines title="Figures" lines={figures(a, b)} />
          <Lines title="Options" lines={options} />
        </table>
      </div>
    </section>
  );
}
