// Answers what the automatic search asks with onnxruntime-web.
import { calibrate } from './package.mjs';
import { modelBytes, octet } from './octet_runs.mjs';
import { samplesOf } from './read_npz.mjs';
import { taken } from './search_runs.mjs';
import { ort, outputsOf } from './web_runtime.mjs';

// Times as a machine would take them on which integers gain: an interval beyond doubt, the same on every machine.
const SPEED = { static: 2, dynamic: 1.5 };

export function timesOf(stage) {
  const [, speed] = Object.entries(SPEED).find(([name]) => stage.includes(name)) ?? ['', 1];
  return { reference_ms: [2, 2, 2, 2, 2], candidate_ms: Array(5).fill(2 / speed) };
}

/**
 * { asked: every question, state, log, plans }. `stopAt(asked)` says when to stop; `answer(question, search)` may answer
 * a measurement itself.
 */
export async function found(name, request = {}, { stopAt = () => false, answer } = {}) {
  const { search } = taken(octet.start_auto({ name: `${name}.onnx`, model: modelBytes(name), ...request }));
  const samples = samplesOf(name, 'calib');
  const references = await outputsOf(modelBytes(name), samples), asked = [];
  try {
    for (;;) {
      const question = taken(search.next());
      asked.push(question);
      if (question.ask === 'nothing') break;
      if (stopAt(asked)) {
        question.calibration?.delete();
        taken(search.stop());
        continue;
      }
      if (question.ask !== 'measure') {
        await calibrate({ start_calibration: () => question }, ort, {}, samples);
        taken(search.answer({}));
        continue;
      }
      const given = answer?.(question, search);
      if (!given) {
        const candidates = await outputsOf(taken(search.candidate_model()).model, samples);
        for (const [i, reference] of references.entries())
          taken(search.add_outputs({ reference, candidate: candidates[i] }));
      }
      taken(search.answer(given ?? timesOf(question.stage)));
    }
    const state = taken(search.state());
    const plans = state.candidates.map((_, i) => taken(search.plan(i)).plan);
    return { asked, state, plans, log: taken(search.log()).log };
  } finally {
    search.delete();
  }
}
