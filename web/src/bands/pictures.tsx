// Size, latency and drift of a run, beside those of the float model and of the pinned run.
import type { Drift } from 'octet-wasm';
import { Bars } from '../charts/bars';
import type { Bar } from '../charts/bars';
import { DriftBars, driftHeight } from '../charts/drift';
import { EmptyFigure } from '../charts/frame';
import { Latency, latencyHeight, speedupText } from '../charts/latency';
import type { LatencyGroup } from '../charts/latency';
import { bytesText, percentText, plural } from '../format';
import { outputBytes } from '../state/runs';
import type { Run } from '../state/runs';
import { modeOf } from '../take/run_words';

interface Props {
  run: Run;
  /** The pinned run, where it is another one. */
  pinned: Run | null;
}

const PINNED = 'Pinned';

function Size({ run, pinned }: Props) {
  const { input_bytes, output_bytes } = run.report.sizes;
  const less = 1 - output_bytes / input_bytes;
  const bars: Bar[] = [
    { owner: 'float', label: 'FP32', value: input_bytes, text: bytesText(input_bytes) },
    { owner: 'run', label: 'This run', value: output_bytes, text: bytesText(output_bytes) },
  ];
  if (pinned)
    bars.push({ owner: 'pin', label: PINNED, value: outputBytes(pinned), text: bytesText(outputBytes(pinned)) });
  return (
    <Bars title="Size" bars={bars} note={less >= 0 ? `${percentText(less)} less` : `${percentText(-less)} more`} />
  );
}

function groupsOf({ comparison }: Run, pinned: Run | null): LatencyGroup[] {
  return comparison!.latency_by_threads.map(({ threads, reference_ms, candidate_ms, speedup }) => {
    const other = pinned?.comparison?.latency_by_threads.find((group) => group.threads === threads);
    return {
      label: plural(threads, 'thread'),
      speedup,
      rows: [
        { owner: 'float', label: 'FP32', ms: reference_ms },
        { owner: 'run', label: 'This run', ms: candidate_ms },
        ...(other ? [{ owner: 'pin' as const, label: PINNED, ms: other.candidate_ms }] : []),
      ],
    };
  });
}

function latencyNote({ comparison }: Run): string {
  const [first] = comparison!.latency_by_threads;
  if (!first) return '';
  const each = `${plural(first.candidate.runs, 'timing')} each, interleaved`;
  const blocks = first.runs_per_block > 1 ? `, of ${first.runs_per_block} runs in a row` : '';
  return `${speedupText(first.speedup)}; ${each}${blocks}`;
}

const short = (value: number | null) => (value === null ? '–' : String(Number(value.toPrecision(2))));

function DriftOf({ run, pinned }: Props) {
  const { comparison } = run;
  const dbOf = (name: string, drifts: Drift[]) =>
    drifts.find((drift) => drift.name === name && drift.comparable)?.sqnr_db;
  const outputs = comparison!.drift.map((drift) => {
    const other = pinned?.comparison ? dbOf(drift.name, pinned.comparison.drift) : undefined;
    return {
      name: drift.name,
      db: drift.sqnr_db,
      top1: drift.top1_agreement,
      error: `${short(drift.max_abs_error)} of ${short(drift.max_abs)}`,
      ...(drift.comparable ? {} : { whyNot: drift.why_not ?? 'cannot be compared' }),
      ...(other === undefined ? {} : { pinnedDb: other }),
    };
  });
  return <DriftBars outputs={outputs} note={`On ${comparison!.samples.description}`} />;
}

interface Placed extends Props {
  /** For how many thread counts latency will come; its place is kept. */
  threads?: number;
  measuring?: boolean;
}

export function Pictures({ run, pinned, threads = 1, measuring = false }: Placed) {
  const { comparison, notVerified } = run;
  const waiting = notVerified ? 'Not measured: the models were not run.' : 'Appears once both models have run.';
  return (
    <div class="pictures">
      <Size run={run} pinned={pinned} />
      {comparison && comparison.latency_by_threads.length > 0 ? (
        <Latency groups={groupsOf(run, pinned)} note={latencyNote(run)} />
      ) : (
        <EmptyFigure title="Latency" height={latencyHeight(threads, 2)}>
          {comparison ? (measuring ? 'Being timed…' : 'No run was timed.') : waiting}
        </EmptyFigure>
      )}
      {comparison ? (
        <DriftOf run={run} pinned={pinned} />
      ) : (
        <EmptyFigure title="Drift" height={driftHeight(run.report.model.outputs.length)}>
          {waiting}
        </EmptyFigure>
      )}
      {pinned && (
        <p class="legend">
          <span class="pin-mark" aria-hidden="true" />
          Pinned: {pinned.name}, {modeOf(pinned)}; timed when it was made
        </p>
      )}
    </div>
  );
}
