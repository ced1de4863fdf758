// What the automatic search found: candidates by speed and drift, what another floor would choose, what each node costs,
// and why it is as it is. Each candidate can be taken.
import { useState } from 'preact/hooks';
import { bytesOf } from 'octet-wasm';
import type { AutoCandidate } from 'octet-wasm';
import './auto.css';
import { Pareto, PARETO_HEIGHT, rangeOf } from '../charts/pareto';
import type { NativePoint, ParetoPoint } from '../charts/pareto';
import { EmptyFigure } from '../charts/frame';
import { Strip } from '../charts/strip';
import type { StripLayer } from '../charts/strip';
import { bytesText, dbText, lostText, plural, timesText } from '../format';
import { byDrop, chosenAt, found, removeFound, searching, stopSearch, takeCandidate, tried } from '../state/auto';
import type { Found } from '../state/auto';
import { job } from '../state/job';
import { NativeCandidates } from './auto_native';

const LEAST_PARTS = 16;
const WHEN = { dateStyle: 'medium', timeStyle: 'short' } as const;

function singleText({ samples, sqnr_interval_db: [low, high] }: AutoCandidate): string {
  return samples > 1 ? `${dbText(low)} to ${dbText(high)}` : '–';
}

function pointsOf({ state: { candidates } }: Found): ParetoPoint[] {
  return candidates.flatMap((one, key) => (one.runs && one.speedup ? [{
    key, name: one.what, speedup: one.speedup, db: one.sqnr_db, bytes: one.bytes, isFloat: one.is_float,
    front: one.front, more: [singleText(one), String(one.moved.length), one.drop === undefined ? '–' : lostText(one.drop)],
  }] : []));
}

function nativePointsOf({ state: { candidates }, native }: Found): NativePoint[] {
  return Object.entries(native?.figures ?? {}).flatMap(([index, { speedup, db, bytes }]) => {
    const key = Number(index);
    return speedup && db !== undefined && db !== null ? [{ key, name: candidates[key]!.what, speedup, db, bytes }] : [];
  });
}

// In the order of the graph; what was only looked at together with others has their figure.
function layersOf({ state: { sensitivities }, plans }: Found): StripLayer[] {
  const order = plans[0]?.nodes.map(({ node }) => node) ?? [];
  // What a large part of the model costs says nothing of its nodes.
  const near = sensitivities.filter(({ nodes }) => nodes.length <= Math.max(1, order.length / LEAST_PARTS));
  const alone = new Map<string, { db: number; nodes: number }>();
  for (const { nodes, alone_db: db } of near) {
    for (const node of nodes) {
      if (nodes.length < (alone.get(node)?.nodes ?? Infinity)) alone.set(node, { db, nodes: nodes.length });
    }
  }
  return order.filter((node) => alone.has(node)).map((node) => ({ key: node, name: node, bar: alone.get(node)!.db }));
}

function Sensitivities({ now }: { now: Found }) {
  const layers = layersOf(now);
  const [selected, setSelected] = useState<string | null>(null);
  if (layers.length === 0) return null;
  return (
    <Strip
      title="What each node costs, in the order of the graph" layers={layers}
      bars="error of the outputs with this node alone in integers" ends={['first', 'last']} selected={selected}
      onSelect={setSelected}
    />
  );
}

// Of what may be lost, as much as the worst that was tried loses.
function mostLost({ state: { candidates } }: Found): number {
  return Math.max(2, Math.ceil(Math.max(...candidates.map(({ drop = 0 }) => drop))));
}

const budgetText = (now: Found) =>
  (byDrop(now) ? `${tried.value.toFixed(1)} % of right answers lost` : `${tried.value.toFixed(1)} dB`);

function Budget({ now, points, asked }: { now: Found; points: ParetoPoint[]; asked: number }) {
  const drop = byDrop(now), unit = drop ? '%' : 'dB';
  return (
    <label class="floor-slider" for="tried-budget">
      <span>
        {drop ? 'Right answers lost, at most' : 'Lowest SQNR'} <output class="figure">{tried.value.toFixed(1)} {unit}</output>
      </span>
      <input
        id="tried-budget" type="range" min="0" max={drop ? mostLost(now) : rangeOf(points, asked)[1]} step={drop ? '0.1' : '0.5'}
        value={tried.value} aria-valuetext={`${tried.value} ${unit}`}
        onInput={({ currentTarget }) => {
          tried.value = Number(currentTarget.value);
        }}
      />
    </label>
  );
}

function WouldBe({ now, index }: { now: Found; index: number | null }) {
  const one = index === null ? null : now.state.candidates[index]!;
  if (!one) return <p class="would-be-words">At {budgetText(now)} nothing that was tried would be chosen.</p>;
  return (
    <p class="would-be-words" role="status">
      At {budgetText(now)}: <strong>{one.what}</strong>,{' '}
      {one.speedup && timesText(one.speedup.ratio)} the speed, {one.drop !== undefined && `${lostText(one.drop)} lost, `}
      {dbText(one.sqnr_db)}, {bytesText(one.bytes)}
    </p>
  );
}

function Take({ index, what }: { index: number; what: string }) {
  return (
    <button
      type="button" class="quiet" disabled={job.value !== null} aria-label={`Take this one: ${what}`}
      onClick={() => void takeCandidate(index)}
    >
      Take<span class="wide"> this one</span>
    </button>
  );
}

interface RowsProps {
  now: Found;
  wouldBe: number | null;
  selected: number | null;
}

function Candidates({ now: { state }, wouldBe, selected }: RowsProps) {
  // The fastest first; what does not run last.
  const speed = ({ runs, speedup }: AutoCandidate) => (runs ? (speedup?.ratio ?? 0) : -1);
  const labelled = state.candidates.some(({ drop }) => drop !== undefined);
  const order = state.candidates.map((_, i) => i).sort((a, b) => speed(state.candidates[b]!) - speed(state.candidates[a]!));
  return (
    <div class="scroll tall" tabIndex={0} role="region" aria-label="Candidates">
      <table class={`candidates ${labelled ? 'labelled' : ''}`}>
        <thead>
          <tr>
            <th scope="col">candidate</th>
            <th scope="col">speed</th>
            <th scope="col">drift</th>
            {labelled && <th scope="col"><abbr title="right answers lost, in percent of all">lost</abbr></th>}
            <th scope="col">size</th>
            <th scope="col">take</th>
          </tr>
        </thead>
        <tbody>
          {order.map((i) => {
            const one = state.candidates[i]!;
            return (
              <tr key={i} class={i === selected || (selected === null && i === wouldBe) ? 'chosen' : ''}>
                <th scope="row">
                  {one.what}{' '}
                  {i === wouldBe && <span class="badge">chosen</span>}
                  {i !== wouldBe && one.front && <span class="badge">front</span>}
                </th>
                {one.runs ? (
                  <>
                    <td class="figure">{one.speedup ? timesText(one.speedup.ratio) : '–'}</td>
                    <td class="figure">{dbText(one.sqnr_db)}</td>
                    {labelled && <td class="figure">{one.drop === undefined ? '–' : lostText(one.drop)}</td>}
                    <td class="figure">{bytesText(one.bytes)}</td>
                    <td><Take index={i} what={one.what} /></td>
                  </>
                ) : (
                  <td colSpan={labelled ? 5 : 4}>does not run: {one.error}</td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

// Lines of the search's own account: what it chose and why; what it tried stands in the chart.
function Account({ lines }: { lines: string[] }) {
  const [tried, told] = [lines.filter((line) => line.startsWith('tried: ')), lines.filter((line) => !line.startsWith('tried: '))];
  if (lines.length === 0) return null;
  return (
    <div class="account">
      <h3>Why it is as it is</h3>
      <ul>{told.map((line) => <li key={line}>{line}</li>)}</ul>
      {tried.length > 0 && (
        <details class="rest">
          <summary>What else was tried</summary>
          <ul>{tried.map((line) => <li key={line}>{line.slice('tried: '.length)}</li>)}</ul>
        </details>
      )}
    </div>
  );
}

export function AutoBand() {
  const now = found.value;
  const [selected, setSelected] = useState<number | null>(null);
  if (!now) return null;
  const { state } = now, points = pointsOf(now), busy = searching.value;
  const asked = now.choices.budget_sqnr, drop = byDrop(now);
  const wouldBe = chosenAt(now, tried.value);
  const note = `${plural(state.tried, 'measurement')} in ${state.seconds.toFixed(0)} s on ${now.judgedOn}; area: size; bars: `
    + `interval of the speed${drop ? '' : '; below the line: too far from FP32'}.`;
  return (
    <section class="band auto" aria-labelledby="auto">
      <div class="title">
        <h2 id="auto">Search</h2>
        {busy && (
          <button type="button" class="quiet" disabled={points.length === 0} onClick={stopSearch}>
            Stop and take the best
          </button>
        )}
        {!busy && job.value === null && (
          <button type="button" class="quiet" aria-label="Remove what the search found" onClick={removeFound}>Remove</button>
        )}
      </div>
      {now.earlier && (
        <p class="note">
          Found on {new Date(now.created).toLocaleString('en', WHEN)} on {now.judgedOn}. Searching again on the same samples
          goes on from there.
        </p>
      )}
      {points.length === 0 ? (
        <EmptyFigure title="Speed and drift of what was tried" height={PARETO_HEIGHT}>
          Each candidate appears here once it was measured.
        </EmptyFigure>
      ) : (
        <Pareto
          points={points} natively={nativePointsOf(now)} bytes={bytesOf(now.source)} asked={drop ? null : asked} floor={drop ? null : tried.value}
          budget={budgetText(now)} chosen={wouldBe} selected={selected} note={note}
          onFloor={(db) => {
            tried.value = db;
          }}
          onSelect={(key) => setSelected(key === selected ? null : key)}
        />
      )}
      <Budget now={now} points={points} asked={asked} />
      {points.length > 0 && <WouldBe now={now} index={wouldBe} />}
      {points.length > 0 && <Candidates now={now} wouldBe={wouldBe} selected={selected} />}
      {!busy && <NativeCandidates now={now} />}
      <Sensitivities now={now} />
      {!busy && <Account lines={state.account} />}
    </section>
  );
}
