// What candidates of a search do natively, beside what they do in the browser, and the button that has them timed.
import { bytesOf } from 'octet-wasm';
import { bytesText, dbText, msText, plural, timesText } from '../format';
import type { Found } from '../state/auto';
import { timeNatively, worthTiming } from '../state/auto_native';
import type { NativeTimes } from '../state/auto_native';
import { job } from '../state/job';
import { server } from '../state/native';

function Row({ now, index, times }: { now: Found; index: number; times: NativeTimes }) {
  const { what, speedup: here } = now.state.candidates[index]!, figure = times.figures[index]!;
  const { error, speedup, db, candidate_ms } = figure;
  if (!speedup) {
    return <tr><th scope="row">{what}</th><td colSpan={5}>does not run natively: {error}</td></tr>;
  }
  return (
    <tr>
      <th scope="row">{what}</th>
      <td>
        <strong>{timesText(speedup.ratio)}</strong>{' '}
        <small>[{timesText(speedup.low)}, {timesText(speedup.high)}]</small>
      </td>
      <td>{here ? timesText(here.ratio) : '–'}</td>
      <td>{msText(candidate_ms!)}</td>
      <td>{dbText(db!)}</td>
      <td>{bytesText(figure.bytes)}</td>
    </tr>
  );
}

function Table({ now, times }: { now: Found; times: NativeTimes }) {
  const speed = (index: number) => times.figures[index]!.speedup?.ratio ?? 0;
  const order = Object.keys(times.figures).map(Number).sort((a, b) => speed(b) - speed(a));
  const floats = Object.values(times.figures).flatMap(({ float_ms }) => float_ms ?? []).sort((a, b) => a - b);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Candidates natively">
      <table class="natively">
        <thead>
          <tr>
            <th scope="col">candidate</th>
            <th scope="col">speed natively</th>
            <th scope="col">in this browser</th>
            <th scope="col">time natively</th>
            <th scope="col">drift natively</th>
            <th scope="col">size</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">FP32, as given</th>
            <td>1×</td>
            <td>1×</td>
            <td>{floats.length > 0 ? msText(floats[floats.length >> 1]!) : '–'}</td>
            <td>equal</td>
            <td>{bytesText(bytesOf(now.source))}</td>
          </tr>
          {order.map((index) => <Row key={index} now={now} index={index} times={times} />)}
        </tbody>
      </table>
    </div>
  );
}

function Made({ times: { runtime, cpu, threads, samples, synthetic } }: { times: NativeTimes }) {
  const on = plural(samples, synthetic ? 'made-up input' : 'sample');
  return (
    <p class="setup">
      Natively: ONNX Runtime {runtime} on {cpu || 'an unnamed processor'}, {plural(threads, 'thread')}; each in turn with FP32
      on {on}. In brackets: the interval that holds 9 of 10 resamples.
    </p>
  );
}

export function NativeCandidates({ now }: { now: Found }) {
  const { native } = now, wanted = worthTiming(now.state);
  if (wanted.length === 0 || (!server.value && !native)) return null;
  return (
    <div class="auto-native">
      <h3>Natively</h3>
      {server.value && (
        <p>octet serve times the front, {plural(wanted.length, 'candidate')}, against FP32, without a browser.</p>
      )}
      {server.value && (
        <p>
          <button type="button" disabled={job.value !== null} onClick={() => void timeNatively()}>
            {native ? 'Time these natively again' : 'Time these natively'}
          </button>
        </p>
      )}
      {native && <Table now={now} times={native} />}
      {native && <Made times={native} />}
    </div>
  );
}
