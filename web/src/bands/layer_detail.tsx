// One layer: what was decided for it, what it loses, its weights and values with the ranges they are rounded in.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PlannedActivation } from 'octet-wasm';
import { ChannelRanges } from '../charts/channels';
import { EmptyFigure } from '../charts/frame';
import { Histogram, HISTOGRAM_HEIGHT, outside, shareText, together } from '../charts/histogram';
import { dbText } from '../format';
import type { LayerRow } from '../layers/rows';
import { activationHistograms, weightHistogram } from '../layers/ask';
import type { Run } from '../state/runs';

interface Props {
  run: Run;
  row: LayerRow;
  exclude: ((nodes: string[]) => void) | null;
  busy: boolean;
}

const BINS = 96;
// So many that the share outside of a range is told well by whole bins, then drawn together.
const FINE = 40;
const MOST_WEIGHTS = 2;
const LOGARITHMIC = 'Heights are logarithmic.';

const ACTION_WORDS = {
  keep: 'It stays in float.',
  weights: 'Its weights are stored small, its arithmetic stays in float.',
  dynamic: 'It computes in integers; ranges are found while it runs.',
  static: 'It computes in integers, with ranges that calibration learned.',
} as const;

export function LayerDetail({ run, row, exclude, busy }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: false }), []);
  // Biases are rounded too, by the scales of what they are added to.
  const stored = row.weights.filter((name) => run.report.plan.tensors.some(({ tensor }) => tensor === name));
  return (
    <div class="layer-detail">
      <h4 ref={heading} tabIndex={-1}>
        {row.name}
      </h4>
      <p>{whatItIs(row)}</p>
      <Losses row={row} />
      {stored.slice(0, MOST_WEIGHTS).map((name) => (
        <Weight key={name} run={run} name={name} />
      ))}
      {run.ranges !== null && row.value && <Values run={run} name={row.value} />}
      {row.causes.length > 0 && exclude && (
        <button type="button" class="primary" disabled={busy} onClick={() => exclude(row.causes)}>
          {row.causes[0] === row.name ? 'Keep' : `Keep ${listed(row.causes)}`} in float and run again
        </button>
      )}
    </div>
  );
}

const listed = (names: string[]) =>
  names.length > 2 ? `${names[0]!} and ${names.length - 1} more` : names.join(' and ');

function whatItIs({ op, name, planned, causes }: LayerRow): string {
  const start = op ? `${op}. ` : '';
  const action = planned?.action ?? 'keep';
  if (action === 'keep' && causes.length > 0) {
    return `${start}It computes in float; its value is rounded for ${listed(causes)}, in integers.`;
  }
  const taken = planned && planned.node !== name ? ` ${planned.node} computes it in the same step.` : '';
  return `${start}${ACTION_WORDS[action]}${taken}`;
}

function Losses({ row: { own, weight, soFar } }: { row: LayerRow }) {
  const parts = [
    own !== undefined && `rounding its value: ${dbText(own)}`,
    weight !== undefined && `rounding its weights: ${dbText(weight)}`,
    soFar !== undefined && `all up to there: ${dbText(soFar)}`,
  ].filter(Boolean);
  return parts.length > 0 ? <p class="setup">{parts.join(' · ')}</p> : null;
}

type Asked<T> = { found: T } | { why: string } | null;

/** Asks once for what a component shows; null until it is there. */
function useAsked<T>(ask: (signal: AbortSignal) => Promise<T>): Asked<T> {
  const [answer, setAnswer] = useState<Asked<T>>(null);
  useEffect(() => {
    const controller = new AbortController();
    ask(controller.signal).then(
      (found) => !controller.signal.aborted && setAnswer({ found }),
      (error: unknown) =>
        !controller.signal.aborted && setAnswer({ why: error instanceof Error ? error.message : String(error) }),
    );
    return () => controller.abort();
  }, []);
  return answer;
}

function Weight({ run, name }: { run: Run; name: string }) {
  const planned = run.report.plan.tensors.find(({ tensor }) => tensor === name);
  const axis = planned?.axis ?? null;
  const answer = useAsked((signal) =>
    weightHistogram(run, { tensor: name, bins: BINS, ...(axis === null ? {} : { axis }) }, signal),
  );
  const title = `Weights: ${name}`;
  if (!answer || 'why' in answer) return <Waiting title={title} why={answer?.why} />;
  const { channels } = answer.found;
  const scales = planned?.block_size ? 'a scale per block' : axis === null ? 'one scale' : 'a scale per channel';
  const note = planned ? `Stored as ${planned.type.slice(1)} with ${scales}. ${LOGARITHMIC}` : LOGARITHMIC;
  return (
    <>
      <Histogram title={title} spread={answer.found} note={note} />
      {channels && channels.length > 1 && <ChannelRanges title={`Channels of ${name}`} channels={channels} />}
    </>
  );
}

function Waiting({ title, why }: { title: string; why: string | undefined }) {
  return (
    <EmptyFigure title={title} height={HISTOGRAM_HEIGHT}>
      {why ?? 'Counting…'}
    </EmptyFigure>
  );
}

/** The range of a value in the plan, by way of the value whose scale it shares. */
function rangeOf(activations: PlannedActivation[] | undefined, name: string): { low: number; high: number } | null {
  let planned = activations?.find(({ tensor }) => tensor === name);
  for (let hops = 0; planned?.same_as !== undefined && hops < 64; ++hops) {
    const other = planned.same_as;
    planned = activations!.find(({ tensor }) => tensor === other);
  }
  return planned?.low === undefined || planned.high === undefined ? null : { low: planned.low, high: planned.high };
}

function Values({ run, name }: { run: Run; name: string }) {
  const range = rangeOf(run.report.plan.activations, name);
  const answer = useAsked(async (signal) => {
    const [found] = await activationHistograms(run, { tensors: [name], bins: BINS * FINE }, signal);
    if (!found) throw new Error('Calibration did not see this value.');
    return found;
  });
  const title = 'Its values, as calibration saw them';
  if (!answer || 'why' in answer) return <Waiting title={title} why={answer?.why} />;
  const coarse = together(answer.found, FINE);
  if (!range) return <Histogram title={title} spread={coarse} note={`Not rounded to integers. ${LOGARITHMIC}`} />;
  const cut = shareText(outside(answer.found, range));
  const note = `The bracket is the range of the integers; outside it: ${cut} of the values. ${LOGARITHMIC}`;
  return <Histogram title={title} spread={coarse} note={note} range={range} />;
}
