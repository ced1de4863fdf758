// What calibration learned, kept for as long as model and samples are the same: other methods, types and nodes are read
// from the same ranges.
import type { Hooks, ModelFiles } from 'octet-wasm';
import { imageOptions } from '../options';
import type { Choices } from '../options';
import { octet } from './client';
import { describe, hasPictures, sourceOf } from './samples';
import type { SampleSet } from './samples';

export interface Ranges {
  text: string;
  samples: number;
  description: string;
  hint: string;
  notes: string[];
}

let kept: { model: Blob; set: SampleSet; how: string; ranges: Ranges } | null = null;

export async function learn(model: ModelFiles, set: SampleSet, choices: Choices, hooks: Hooks): Promise<Ranges> {
  const { prepare, limit, shuffle } = choices;
  const how = JSON.stringify([prepare, limit, shuffle, hasPictures(set) && imageOptions(choices)]);
  if (kept && kept.model === model.model && kept.set === set && kept.how === how) return kept.ranges;
  const options = { mode: 'static', ...(!prepare && { prepare }) } as const;
  const learned = await octet.calibrate(model, sourceOf(set, choices, 'calibration'), options, hooks);
  const description = set.kind === 'files'
    ? `${learned.samples} samples from ${describe(set)}`
    : `${describe(set)}, whose ranges say little of real ones`;
  const ranges = { text: learned.ranges, samples: learned.samples, description, hint: learned.hint, notes: learned.notes };
  kept = { model: model.model, set, how, ranges };
  return ranges;
}
