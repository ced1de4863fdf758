// Quantization that measures as it goes: the core asks for runs, this makes them.
import type { Calibration, Finished, OctetModule, Sample, Search, SearchRequest } from '../octet.js';
import { observeSamples } from './calibrate.js';
import { runtimeWith, Session } from './engine.js';
import { checked, failure, OctetError } from './error.js';
import type { SentSource } from './protocol.js';
import { openKnown, plain } from './samples.js';
import type { ModelFiles, Progress } from './types.js';

// As many as the command line checks on.
const CHECKED = 4;

export interface SearchSources {
  calib?: SentSource;
  data?: SentSource;
}

type Tell = (progress: Progress) => void;
type Finish = Parameters<Search['finish']>[0];

class Searcher {
  #reference: Session | undefined;
  #samples: Sample[] | undefined;

  constructor(
    private readonly octet: OctetModule, private readonly search: Search, private readonly model: ModelFiles,
    private readonly sources: SearchSources, private readonly threads: number, private readonly tell: Tell,
  ) {}

  async toTheEnd(finish: Finish): Promise<Finished> {
    for (;;) {
      const question = checked(this.search.next());
      const { stage: detail, done, total } = question;
      if (question.ask === 'finish') return checked(this.search.finish(finish));
      this.tell({ stage: 'search', done, total, detail });
      if (question.ask === 'check') await this.check();
      else await this.observe(question.calibration);
    }
  }

  private async observe(calibration: Calibration) {
    try {
      const { calib } = this.sources;
      if (!calib) throw failure('usage', 'needs samples to run the model on', 'give calib', 'quantize');
      const opened = openKnown(this.octet, this.model, calib), { count } = opened;
      const hooks = { onProgress: this.tell, total: count ?? undefined };
      await observeSamples(runtimeWith(this.threads), calibration, plain(opened), hooks);
      checked(this.search.answer({}));
    } finally {
      calibration.delete();
    }
  }

  private async check() {
    try {
      await this.compareOutputs();
    } catch (error) {
      if (!(error instanceof OctetError) || error.error.code !== 'run') throw error;
      return checked(this.search.answer({ error: error.error.problem }));
    }
    return checked(this.search.answer({}));
  }

  private async compareOutputs() {
    const ort = runtimeWith(this.threads);
    const reference = (this.#reference ??= await Session.open(ort, this.model, false));
    const samples = (this.#samples ??= await this.first());
    const candidate = await Session.written(ort, 'the quantized model', checked(this.search.check_model()), true);
    try {
      for (const sample of samples) {
        const outputs = await reference.run(reference.feeds(sample));
        const others = await candidate.run(candidate.feeds(sample));
        checked(this.search.add_outputs({ reference: outputs, candidate: others }));
      }
    } finally {
      await candidate.close();
    }
  }

  private async first(): Promise<Sample[]> {
    const samples: Sample[] = [];
    const source = this.sources.data ?? this.sources.calib ?? { synthetic: { count: CHECKED } };
    for await (const sample of plain(openKnown(this.octet, this.model, source, CHECKED))) {
      samples.push(sample);
      if (samples.length === CHECKED) break;
    }
    return samples;
  }

  async close() {
    await this.#reference?.close();
  }
}

export async function searchAndFinish(
  octet: OctetModule, request: SearchRequest, model: ModelFiles, sources: SearchSources, threads: number, tell: Tell,
  finish: Finish,
): Promise<Finished> {
  const { search } = checked(octet.start_search(request));
  const searcher = new Searcher(octet, search, model, sources, threads, tell);
  try {
    return await searcher.toTheEnd(finish);
  } finally {
    await searcher.close();
    search.delete();
  }
}
