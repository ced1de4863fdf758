// The package's automatic search: package.test.mjs runs these.
import assert from 'node:assert/strict';
import { quantize, sha256 } from '../wasm/octet_runs.mjs';

export function testAuto(inPage) {
  inPage('the README\'s search finds a model within the budget, and goes on from its log', {}, async (evaluate) => {
    const { bytes, result, again, seen } = await evaluate(async () => {
      const model = { name: 'digits.onnx', model: await window.modelFile('digits_cnn') };
      const files = await window.sampleFiles('calib', 8), log = console.log, seen = [];
      console.log = (what, ratio) => seen.push([what, ratio]);
      const { output, ...result } = await window.example.findFastest(model, files);
      const count = seen.length, started = performance.now();
      const { output: _, ...again } = await window.example.findFastest(model, files, undefined, result.log);
      console.log = log;
      const took = performance.now() - started;
      return {
        bytes: await window.bytesOf(output.model), seen: seen.slice(0, count),
        result: { ...result, name: output.name }, again: { ...again, took },
      };
    });
    const chosen = result.candidates[result.chosen];
    assert.equal(result.name, 'digits.auto.onnx');
    assert.ok(chosen.sqnr_db >= 30 && chosen.runs && chosen.confirmed, JSON.stringify(chosen));
    assert.ok(chosen.speedup.low <= chosen.speedup.ratio && chosen.speedup.ratio <= chosen.speedup.high);
    assert.ok(chosen.float_ms > 0 && chosen.candidate_ms > 0);
    assert.equal(chosen.bytes, bytes.length);
    assert.deepEqual(result.report.plan, result.plan);
    assert.equal(sha256(Uint8Array.from(bytes)), sha256(quantize('digits_cnn', { plan: result.plan }).model));
    assert.equal(seen.at(-1)[0], result.account.join('\n'));
    assert.deepEqual(seen.slice(0, -1).map(([what]) => what), result.candidates.map(({ what }) => what));
    assert.equal(again.candidates[again.chosen].what, chosen.what);
    assert.equal(again.log, result.log, 'nothing was measured anew');
  });

  inPage('a search stops with the best so far, or with nothing', {}, async (evaluate) => {
    const { best, aborted, early, refused, unmet } = await evaluate(async () => {
      const { auto } = window.octet, model = await window.modelFile('gpt_char');
      const ids = (k) => ({ idx: { type: 'int64', dims: [1, 32], data: Array.from({ length: 32 }, (_, i) => (i * k) % 60) } });
      const calib = [1, 3, 5, 7].map(ids), states = [];
      const enough = new AbortController(), after = [];
      const best = await auto(model, { calib }, {
        stop: enough.signal, onState: (state) => states.push(state.tried),
        onCandidate: ({ what, plan }) => {
          after.push([what, plan.nodes.length]);
          if (after.length === 2) enough.abort();
        },
      });
      const cancel = new AbortController(), reason = new Error('no more of it');
      const aborted = await window.failureOf(auto(model, { calib }, {
        signal: cancel.signal, onCandidate: () => cancel.abort(reason),
      }));
      const now = new AbortController();
      now.abort();
      const early = await window.failureOf(auto(model, { calib }, { stop: now.signal }));
      const refused = await window.failureOf(auto(model, {}));
      const unmet = await window.failureOf(auto(model, { calib, budget: { max_bytes: 1000, seconds: 5 } }));
      const { output, report, log, plan, ...rest } = best;
      return { best: { ...rest, after, size: output.model.size, states }, aborted, early, refused, unmet };
    });
    assert.equal(best.ended_early, 'it was stopped');
    assert.equal(best.candidates.length, 2);
    assert.equal(best.size, best.candidates[best.chosen].bytes);
    assert.ok(best.after.every(([, nodes]) => nodes > 4));
    assert.ok(best.states.every((tried, i) => i === 0 || tried >= best.states[i - 1]));
    assert.equal(aborted.message, 'no more of it');
    assert.deepEqual([early.error.code, refused.error.code, unmet.error.code], ['interrupted', 'usage', 'quality']);
    assert.match(unmet.error.problem, /smallest/);
  });
}
