// The embedded models calibrated with onnxruntime-web, once each.
import { calibrate } from './package.mjs';
import { modelBytes, octet } from './octet_runs.mjs';
import { samplesOf } from './read_npz.mjs';
import { ort } from './web_runtime.mjs';

const learned = new Map();

export function learn(name, options = {}, hooks = {}, samples = samplesOf(name, 'calib')) {
  return calibrate(octet, ort, modelBytes(name), samples, options, hooks);
}

export async function rangesOf(name) {
  if (!learned.has(name)) learned.set(name, await learn(name));
  return learned.get(name).ranges;
}
