// Both models over the same samples, slice by slice of what flows between their nodes.
import type { LayerComparison, LayerSteps, OctetModule, Sample } from '../octet.js';
import { runtimeWith, Session } from './engine.js';
import { checked } from './error.js';
import type { Requests } from './protocol.js';
import { openable } from './readers.js';
import { firstThatRuns, listOf, openSamples } from './samples.js';
import type { Pull } from './samples.js';
import type { Progress } from './types.js';

type Request = Requests['layers'];
type Tell = (progress: Progress) => void;

class Comparer {
  constructor(
    private readonly steps: LayerSteps, private readonly request: Request, private readonly samples: Sample[],
    private readonly tell: Tell,
  ) {}

  async compare(description: string): Promise<LayerComparison> {
    checked(this.steps.begin_sample({ sample: this.samples[0]!, name: 'sample 1' }));
    const { slices } = checked(this.steps.plan_slices({}));
    for (const [i, slice] of slices.entries()) await this.run(i, slice, slices.length);
    return checked(this.steps.result({ description })).layers;
  }

  private async run(slice: number, taps: { reference: string[]; candidate: string[] }, slices: number) {
    const sessions: Session[] = [];
    const open = async (which: 'reference' | 'candidate') => {
      const { name } = this.request[which];
      const model = checked(this.steps.slice_model({ slice, which }));
      const session = await Session.written(runtimeWith(1), name, model, false);
      sessions.push(session);
      return (sample: Sample) => session.run(session.feeds(sample), taps[which]);
    };
    try {
      const [reference, candidate] = [await open('reference'), await open('candidate')];
      for (const [i, given] of this.samples.entries()) {
        this.tell({ stage: 'layers', done: slice + i / this.samples.length, total: slices });
        const { sample } = checked(this.steps.begin_sample({ sample: given, name: `sample ${i + 1}` }));
        checked(this.steps.add({ slice, reference: await reference(sample), candidate: await candidate(sample) }));
      }
    } finally {
      for (const session of sessions) await session.close();
    }
  }
}

export async function compareLayers(octet: OctetModule, request: Request, pull: Pull, tell: Tell) {
  const { reference, candidate, samples, limit } = request;
  tell({ stage: 'layers', done: 0, total: 1 });
  const compare = async (list: Sample[], description: string) => {
    const started = octet.start_layers({ reference: openable(reference), candidate: openable(candidate) });
    const { layers: steps } = checked(started);
    try {
      return await new Comparer(steps, request, list, tell).compare(description);
    } finally {
      steps.delete();
    }
  };
  if ('synthetic' in samples) {
    const { synthetic } = samples;
    return firstThatRuns(octet, reference, { count: 2, ...synthetic }, (made) => compare(made.list, made.description));
  }
  const opened = openSamples(octet, reference, samples, pull, limit);
  return compare(await listOf(opened), opened.description);
}
