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
import { bytesText, dbText, plural, timesText } from '../format';
import { chosenAt, floor, found, removeFound, searching, stopSearch, takeCandidate } from '../state/auto';
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
    front: one.front, more: [singleText(one), String(one.moved.length)],
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

function Floor({ points, asked }: { points: ParetoPoint[]; asked: number }) {
  const [, highest] = rangeOf(points, asked);
  return (
    <label class="floor-slider">
      <span>Lowest SQNR <output class="figure">{floor.value.toFixed(1)} dB</output></span>
      <input
        type="range" min="0" max={highest} step="0.5" value={floor.value} aria-valuetext={`${floor.value} dB`}
        onInput={({ currentTarget }) => {
          floor.value = Number(currentTarget.value);
        }}
      />
    </label>
  );
}

function WouldBe({ now, index }: { now: Found; index: number | null }) {
  const one = index === null ? null : now.state.candidates[index]!;
  if (!one) return <p class="would-be-words">At {floor.value.toFixed(1)} dB nothing that was tried would be chosen.</p>;
  return (
    <p class="would-be-words" role="status">
      At {floor.value.toFixed(1)} dB: <strong>{one.what}</strong>,{' '}
      {one.speedup && timesText(one.speedup.ratio)} the speed, {dbText(one.sqnr_db)}, {bytesText(one.bytes)}
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
  const order = state.candidates.map((_, i) => i).sort((a, b) => speed(state.candidates[b]!) - speed(state.candidates[a]!));
  return (
    <div class="scroll tall" tabIndex={0} role="region" aria-label="Candidates">
      <table class="candidates">
        <thead>
          <tr>
            <th scope="col">candidate</th>
            <th scope="col">speed</th>
            <th scope="col">drift</th>
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
                    <td class="figure">{bytesText(one.bytes)}</td>
                    <td><Take index={i} what={one.what} /></td>
                  </>
                ) : (
                  <td colSpan={4}>does not run: {one.error}</td>
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
  const asked = now.choices.budget_sqnr;
  const wouldBe = chosenAt(state, floor.value);
  const note = `${plural(state.tried, 'measurement')} in ${state.seconds.toFixed(0)} s on ${now.judgedOn}; area: size; bars: `
    + 'interval of the speed; below the line: too far from FP32.';
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
          points={points} natively={nativePointsOf(now)} bytes={bytesOf(now.source)} asked={asked} floor={floor.value} chosen={wouldBe} selected={selected} note={note}
          onFloor={(db) => {
            floor.value = db;
          }}
          onSelect={(key) => setSelected(key === selected ? null : key)}
        />
      )}
      <Floor points={points} asked={asked} />
      {points.length > 0 && <WouldBe now={now} index={wouldBe} />}
      {points.length > 0 && <Candidates now={now} wouldBe={wouldBe} selected={selected} />}
      {!busy && <NativeCandidates now={now} />}
      <Sensitivities now={now} />
      {!busy && <Account lines={state.account} />}
    </section>
  );
}
