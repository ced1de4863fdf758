// Every run is a row: look at it, pin it, compare two, take it away, remove it.
import { useState } from 'preact/hooks';
import { CopyButton } from '../charts/frame';
import { bytesText } from '../format';
import { currentId, keeping, outputBytes, pin, removeRun, runs } from '../state/runs';
import type { Run } from '../state/runs';
import { saveModel } from '../take/download';
import {
  commandOf,
  driftText,
  keyOptions,
  modeOf,
  nativeSpeedText,
  smaller,
  smallerText,
  speedText,
  verdictWord,
} from '../take/run_words';
import { CompareRuns } from './compare_runs';

export function RunsBand({ linkOf }: { linkOf: (run: Run) => string }) {
  const [marked, setMarked] = useState<string[]>([]);
  const list = runs.value;
  if (list.length === 0) return keeping.value ? <p class="note">{keeping.value}</p> : null;
  const chosen = list.filter(({ id }) => marked.includes(id));
  // A third one takes the place of the one that was marked first.
  const mark = (id: string, on: boolean) =>
    setMarked(on ? [...marked.slice(-1), id] : marked.filter((one) => one !== id));
  return (
    <section class="band runs" aria-labelledby="runs">
      <h2 id="runs">Runs</h2>
      <p class="help">Kept in this browser until you remove them. Mark two to compare them side by side.</p>
      <div class="run-table" role="table" aria-labelledby="runs">
        <div class="run-head" role="row">
          {['run', 'size', 'speed', 'native', 'drift', 'verdict', 'compare', 'more'].map((head) => (
            <span key={head} role="columnheader">
              {head}
            </span>
          ))}
        </div>
        {list.map((run) => (
          <Row key={run.id} run={run} marked={marked.includes(run.id)} mark={mark} link={linkOf(run)} />
        ))}
      </div>
      {keeping.value && <p class="note">{keeping.value}</p>}
      {chosen.length === 2 && <CompareRuns a={chosen[1]!} b={chosen[0]!} onClose={() => setMarked([])} />}
    </section>
  );
}

interface RowProps {
  run: Run;
  marked: boolean;
  mark(id: string, on: boolean): void;
  link: string;
}

function Row({ run, marked, mark, link }: RowProps) {
  const shown = run.id === currentId.value;
  const title = `${modeOf(run)}, ${run.name}`;
  const judgement = run.comparison?.verdict.judgement ?? 'unknown';
  return (
    <div class={shown ? 'run-row shown' : 'run-row'} role="row">
      <div class="what" role="rowheader">
        <button type="button" class="row-name" aria-pressed={shown} onClick={() => show(run)}>
          <strong>{modeOf(run)}</strong>
          {run.pinned && <span class="badge">pinned</span>}
          <small>{[run.name, keyOptions(run)].filter(Boolean).join(' · ')}</small>
        </button>
      </div>
      <Cell head="size">
        {bytesText(outputBytes(run))}
        <small>{smallerText(smaller(run))}</small>
      </Cell>
      <Cell head="speed">{speedText(run)}</Cell>
      <Cell head="native">{nativeSpeedText(run)}</Cell>
      <Cell head="drift">{driftText(run)}</Cell>
      <Cell head="verdict">
        <span class={`word ${judgement}`}>{verdictWord(run)}</span>
      </Cell>
      <Cell head="compare">
        <input
          type="checkbox"
          aria-label={`Compare ${title}`}
          checked={marked}
          onChange={({ currentTarget }) => mark(run.id, currentTarget.checked)}
        />
      </Cell>
      <div class="more" role="cell">
        <button type="button" class="quiet" aria-pressed={run.pinned} onClick={() => pin(run.id)}>
          {run.pinned ? 'Unpin' : 'Pin'}
        </button>
        <details class="menu">
          <summary aria-label={`More for ${title}`}>More</summary>
          <div>
            <button type="button" class="quiet" onClick={() => saveModel(run.output)}>
              Download
            </button>
            <CopyButton label="Copy link" text={() => link} />
            <CopyButton label="Copy command line" text={() => commandOf(run)} />
            <button type="button" class="quiet" onClick={() => removeRun(run.id)}>
              Remove
            </button>
          </div>
        </details>
      </div>
    </div>
  );
}

function show(run: Run) {
  currentId.value = run.id;
  // The result stands above its row: the reader is taken there.
  requestAnimationFrame(() => {
    const verdict = document.querySelector<HTMLElement>('.verdict');
    verdict?.focus();
    verdict?.scrollIntoView({ block: 'nearest' });
  });
}

function Cell({ head, children }: { head: string; children: preact.ComponentChildren }) {
  return (
    <div class={`cell of-${head}`} role="cell">
      <span class="cell-head" aria-hidden="true">
        {head}
      </span>
      {children}
    </div>
  );
}
