// What calibration learned, kept for as long as model and samples are the same: other methods, types and nodes are read
// from the same ranges.
import type { Hooks, ModelFiles } from 'octet-wasm';
import { calibrateNatively } from '../native/calibrate';
import { imageOptions, syntheticOf } from '../options';
import type { Choices } from '../options';
import { octet } from './client';
import { describe, hasPictures, sourceOf } from './samples';
import type { ReadableSet, SampleSet } from './samples';

export interface Ranges {
  text: string;
  samples: number;
  description: string;
  hint: string;
  notes: string[];
}

let kept: { model: Blob; set: SampleSet; how: string; ranges: Ranges } | null = null;

async function learnHere(model: ModelFiles, set: ReadableSet, choices: Choices, hooks: Hooks): Promise<Ranges> {
  const options = { mode: 'static', ...(!choices.prepare && { prepare: false }) } as const;
  const learned = await octet.calibrate(model, sourceOf(set, choices, 'calibration'), options, hooks);
  const description = set.kind === 'files'
    ? `${learned.samples} samples from ${describe(set)}`
    : `${describe(set)}, whose ranges say little of real ones`;
  return { text: learned.ranges, samples: learned.samples, description, hint: learned.hint, notes: learned.notes };
}

export async function learn(model: ModelFiles, set: SampleSet, choices: Choices, hooks: Hooks): Promise<Ranges> {
  const { prepare, limit, shuffle } = choices;
  const how = JSON.stringify([
    prepare, limit, shuffle, (set.kind === 'served' || hasPictures(set)) && imageOptions(choices),
    set.kind === 'made up' && syntheticOf(choices),
  ]);
  if (kept && kept.model === model.model && kept.set === set && kept.how === how) return kept.ranges;
  const ranges = set.kind === 'served'
    ? await calibrateNatively(model, set.folder, choices, hooks)
    : await learnHere(model, set, choices, hooks);
  kept = { model: model.model, set, how, ranges };
  return ranges;
}
