// Compares layers with onnxruntime-web, step by step.
import assert from 'node:assert/strict';
import { octet } from './octet_runs.mjs';
import { ort, sessionOf, toTensor } from './web_runtime.mjs';

function taken(result) {
  assert.equal(result.error, undefined, result.error?.message);
  return result;
}

// What a model shows of `names` for a sample, strings left out.
async function shown(session, sample, names) {
  if (names.length === 0) return {};
  const feeds = Object.fromEntries(session.inputNames.map((name) => [name, toTensor(sample[name])]));
  const results = Object.entries(await session.run(feeds, names));
  return Object.fromEntries(results.filter(([, value]) => value instanceof ort.Tensor && value.type !== 'string'));
}

export async function compareLayers(reference, candidate, samples, { budget, description } = {}) {
  const { layers } = taken(octet.start_layers({ reference, candidate }));
  try {
    taken(layers.begin_sample({ sample: samples[0] }));
    const { slices } = taken(layers.plan_slices({ budget }));
    for (const [slice, names] of slices.entries()) {
      const plain = { graphOptimizationLevel: 'disabled' };
      const open = (which) => sessionOf(taken(layers.slice_model({ slice, which })), plain);
      const sessions = { reference: await open('reference'), candidate: await open('candidate') };
      for (const given of samples) {
        const { sample } = taken(layers.begin_sample({ sample: given }));
        const run = (which) => shown(sessions[which], sample, names[which]);
        taken(layers.add({ slice, reference: await run('reference'), candidate: await run('candidate') }));
      }
      await sessions.reference.release();
      await sessions.candidate.release();
    }
    return taken(layers.result({ description })).layers;
  } finally {
    layers.delete();
  }
}
