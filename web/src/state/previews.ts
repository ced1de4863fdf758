// The first samples of a set as the model will see them, and whether they fit it.
import { effect, signal } from '@preact/signals';
import type { ModelFiles, PictureInput, Sample, WorkError } from 'octet-wasm';
import { choices } from './choices';
import { octet } from './client';
import { asError } from './job';
import { inspected, loaded } from './model';
import { describe, setOf, sourceOf } from './samples';
import type { Purpose, ReadableSet, SampleSet } from './samples';

export interface Preview {
  of: SampleSet;
  samples: { name: string; tensors: Sample }[];
  /** Samples there are in all. */
  count: number;
  description: string;
  /** What the model takes of a picture, where it takes any. */
  image: PictureInput | null;
  error: WorkError | null;
}

export const FIRST = 4;

export const previews = {
  calibration: signal<Preview | null>(null),
  evaluation: signal<Preview | null>(null),
};

async function look(model: ModelFiles, set: ReadableSet, purpose: Purpose): Promise<Preview> {
  try {
    const read = await octet.readSamples(model, sourceOf(set, choices.peek(), purpose), { limit: FIRST });
    return { of: set, ...read, error: null };
  } catch (error) {
    return { of: set, samples: [], count: 0, description: describe(set), image: null, error: asError(error) };
  }
}

function watch(purpose: Purpose) {
  let turn = 0, later: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const set = setOf(purpose).value;
    const model = inspected.value && loaded.peek();
    const { image_size, image_fit, image_layout, image_order, image_scale, image_mean, image_std } = choices.value;
    const { seed, dims, fixed } = choices.value;
    void [image_size, image_fit, image_layout, image_order, image_scale, image_mean, image_std, seed, dims, fixed];
    const mine = ++turn;
    clearTimeout(later);
    if (!model || set === null || set.kind === 'served') {
      previews[purpose].value = null;
      return;
    }
    later = setTimeout(async () => {
      const preview = await look(model, set, purpose);
      if (mine === turn) previews[purpose].value = preview;
    }, 150);
  });
}

watch('calibration');
watch('evaluation');
