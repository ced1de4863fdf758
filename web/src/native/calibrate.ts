// Ranges of a model learned by `octet serve`, from a folder that it was started with: data that is too large to drop.
import type { Hooks, ModelFiles } from 'octet-wasm';
import { imageOptions } from '../options';
import type { Choices } from '../options';
import { sentFiles, withSent } from './sent_files';
import { calibrateOnServer } from './server';

export async function calibrateNatively(model: ModelFiles, folder: string, choices: Choices, hooks: Hooks) {
  const { prepare, limit, shuffle } = choices;
  const signal = hooks.signal ?? new AbortController().signal;
  const tell = hooks.onProgress ?? (() => {});
  const samples = {
    ...(limit > 0 && { limit }), ...(shuffle >= 0 && { shuffle }), image: imageOptions(choices),
  };
  const sending = sentFiles([model]);
  const learned = await withSent(sending, new Map(), signal, () => tell({ stage: 'calibrate', done: 0, total: null }), () =>
    calibrateOnServer(
      {
        model: sending.models[0]!, calib: 'served', samples,
        options: { mode: 'static', ...(!prepare && { prepare }) },
      },
      signal,
      ({ stage, done, total }) => {
        if (stage === 'calibrate') tell({ stage, done, total, detail: `natively, in ${folder}` });
      },
    ));
  const description = `${learned.samples} samples of ${folder}, natively`;
  return { text: learned.ranges, samples: learned.samples, description, hint: '', notes: learned.notes };
}
