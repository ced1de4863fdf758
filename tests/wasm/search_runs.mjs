// Answers what a search asks with onnxruntime-web.
import assert from 'node:assert/strict';
import { calibrate } from './package.mjs';
import { modelBytes, octet } from './octet_runs.mjs';
import { samplesOf } from './read_npz.mjs';
import { ort, outputsOf } from './web_runtime.mjs';

export function taken(result) {
  assert.equal(result.error, undefined, result.error?.message);
  return result;
}

// { asked: every question, finished }; `samples` calibrate and check.
export async function searched(name, options, { samples = samplesOf(name, 'calib'), ranges, check, output } = {}) {
  const { search } = taken(octet.start_search({ name: `${name}.onnx`, model: modelBytes(name), options, ranges }));
  const references = await outputsOf(modelBytes(name), samples), asked = [];
  try {
    for (;;) {
      const question = taken(search.next());
      asked.push(question);
      if (question.ask === 'finish') return { asked, finished: taken(search.finish({ output })) };
      if (question.ask !== 'check') {
        await calibrate({ start_calibration: () => question }, ort, {}, samples);
        taken(search.answer({}));
      } else if (check?.(asked) !== undefined) {
        taken(search.answer({ error: check(asked) }));
      } else {
        const candidates = await outputsOf(taken(search.check_model()).model, samples);
        for (const [i, reference] of references.entries())
          assert.equal(taken(search.add_outputs({ reference, candidate: candidates[i] })).samples, i + 1);
        taken(search.answer({}));
      }
    }
  } finally {
    search.delete();
  }
}
