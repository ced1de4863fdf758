// The native part of a result: measured by `octet serve` where the page came from it; on a plain server the command to
// copy, and the place where its report is dropped.
import { useState } from 'preact/hooks';
import { CopyButton, EmptyFigure } from '../charts/frame';
import { latencyHeight } from '../charts/latency';
import { filesOf } from '../dropped';
import { job } from '../state/job';
import {
  forgetNative, mayBeCheap, measureNatively, nativeProblem, server, sourceOfRun, takeReport,
} from '../state/native';
import type { Run } from '../state/runs';
import { checkedOn } from '../state/samples';
import { benchCommand, REPORT_FILE } from '../take/bench_command';
import { untimed } from '../take/verdict_words';
import { CommandText } from './command_text';
import { NativeView } from './native_view';
import { Picker } from './picker';

const listed = (words: string[]) =>
  (words.length > 1 ? `${words.slice(0, -1).join(', ')} and ${words.at(-1)!}` : words[0]!);

function Wrong({ run }: { run: Run }) {
  const failed = nativeProblem.value;
  if (failed?.run !== run.id) return null;
  const { where, problem, next } = failed.error;
  return (
    <div class="problem" role="alert">
      <p><strong>{where && `${where}: `}</strong>{problem}.</p>
      {next && <p>{next.charAt(0).toUpperCase() + next.slice(1)}.</p>}
    </div>
  );
}

// Where the view will stand, as soon as it is likely to come.
function Awaited({ run, working }: { run: Run; working: boolean }) {
  const threads = run.comparison?.latency_by_threads.length || 1;
  return (
    <EmptyFigure title="Latency here and natively" height={latencyHeight(2 * threads, 2)}>
      {working ? 'Being timed natively…' : 'Appears once both models have run here and natively.'}
    </EmptyFigure>
  );
}

const isComing = (run: Run) =>
  job.value !== null && run.notVerified === null && (run.comparison === null || untimed(run)) && mayBeCheap(run);

function ByServer({ run }: { run: Run }) {
  if (!sourceOfRun(run)) return <p class="hint">Open {run.source.name} again to time it natively.</p>;
  const step = job.value?.progress?.stage, working = step === 'send' || step === 'native';
  if (!run.native && (working || isComing(run))) return <Awaited run={run} working={working} />;
  return (
    <>
      <p>
        octet serve can time both models without a browser. The float model, this output and the samples go to it over
        this computer’s own loopback, and no further.
      </p>
      <p>
        <button
          type="button" class={run.native ? 'quiet' : 'primary'} disabled={job.value !== null}
          onClick={() => void measureNatively(run)}
        >
          {run.native ? 'Measure natively again' : 'Measure natively'}
        </button>
      </p>
    </>
  );
}

function ByHand({ run }: { run: Run }) {
  const { text, beside } = benchCommand(run, sourceOfRun(run) ? checkedOn.value : null);
  return (
    <div class="bench-command">
      <p>
        Times both models without a browser, in a folder with {listed(beside)}; octet serve opens this page and does it
        by itself:
      </p>
      <CommandText text={text} />
      <CopyButton label="Copy" text={() => text} />
    </div>
  );
}

function DropReport({ run }: { run: Run }) {
  const [over, setOver] = useState(false);
  return (
    <div
      class={`report-drop ${over ? 'over' : ''}`}
      onDragOver={() => setOver(true)} onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (!event.dataTransfer?.files.length) return;
        event.preventDefault();
        void filesOf(event.dataTransfer).then((given) => takeReport(run, given.map(({ file }) => file)));
      }}
    >
      <span>{run.native ? 'Drop another report here, or' : `Drop ${REPORT_FILE} here, or`}</span>
      <Picker
        label={`Choose ${run.native ? 'another report' : REPORT_FILE}`} kind="quiet"
        onPick={(given) => void takeReport(run, given.map(({ file }) => file))}
      />
      {run.native && (
        <button type="button" class="quiet" onClick={() => forgetNative(run)}>Remove the native figures</button>
      )}
    </div>
  );
}

export function NativeBand({ run, pinned }: { run: Run; pinned: Run | null }) {
  const served = server.value !== null;
  const byHand = <><ByHand run={run} /><DropReport run={run} /></>;
  return (
    <section class="native" aria-labelledby="native">
      <h3 id="native" tabIndex={-1}>Natively</h3>
      <Wrong run={run} />
      <NativeView run={run} pinned={pinned} />
      {served && <ByServer run={run} />}
      {served || run.native
        ? <details class="rest"><summary>From another machine</summary>{byHand}</details>
        : byHand}
    </section>
  );
}
