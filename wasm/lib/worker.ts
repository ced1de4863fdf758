// Everything that takes time: the core, and the runtime once there is something to run.
import createOctet from '../octet.js';
import type { Failure, OctetModule, Request, Sample, Written } from '../octet.js';
import { searchAutomatically } from './auto.js';
import { calibrate as run } from './calibrate.js';
import type { Place } from './disk.js';
import { DiskOutput } from './disk_output.js';
import { runtimeWith } from './engine.js';
import { checked, failure, OctetError, outOfMemory, wantsMemory } from './error.js';
import type { WorkError } from './error.js';
import type { FromWorker, Job, Replies, Requests, ToWorker } from './protocol.js';
import type { Kind } from './protocol.js';
import { compareLayers } from './layers.js';
import { copyLarge } from './local_copy.js';
import { measure } from './measure.js';
import { openable } from './readers.js';
import { firstThatRuns, makeUp, openSamples, plain } from './samples.js';
import type { Pull } from './samples.js';
import { searchAndFinish } from './search.js';
import { warmUp } from './warm_up.js';
import type {
  AutoFound, AutoResult, Calibrated, Inspection, ModelFiles, PreparedModel, Progress, QuantizedModel, SamplesRead, TensorHistogram,
} from './types.js';

type Tell = (progress: Progress) => void;

let starting: Promise<OctetModule> | undefined;
const core = () => (starting ??= createOctet());

// Throttled: a plan over thousands of tensors would flood the page.
function throttled(tell: Tell): (stage: 'plan' | 'write', done: number, total: number) => void {
  let last = 0;
  return (stage, done, total) => {
    if (performance.now() - last < 50 && done < total) return;
    last = performance.now();
    tell({ stage, done, total });
  };
}

// A request for the core, and what became of the external data that the core asked for.
function requestFor(model: ModelFiles, tell: Tell) {
  const files: Record<string, Blob> = {};
  let missing: string | undefined;
  const asked = (location: string, file: Blob | null) => {
    if (file) files[location] = file;
    else missing ??= location;
  };
  const request = { ...openable(model, asked), progress: throttled(tell) };
  const unlessFailed = <T extends object>(result: T | Failure): T => {
    if (!('error' in result) || missing === undefined) return checked(result);
    throw new OctetError({ ...(result as Failure).error, missing });
  };
  return { request, files, unlessFailed };
}

// Runs `work` with a sink to disk where there is a place for it, and gives what it wrote as files.
async function stored<T extends Written>(
  name: string, place: Place | undefined, work: (sink: Request['sink']) => T | Promise<T>,
): Promise<{ output: ModelFiles; written: T }> {
  if (!place) {
    const written = await work(undefined), { model, external, external_name: path } = written;
    const files: Record<string, Blob> = external && path ? { [path]: new Blob([external as BlobPart]) } : {};
    return { output: { name, model: new Blob([model as BlobPart]), files }, written };
  }
  const disk = await DiskOutput.open(place);
  try {
    const written = await work(disk.sink);
    return { output: await disk.filesOf(name, written), written };
  } finally {
    await disk.close();
  }
}

async function inspect({ model, options }: Requests['inspect'], tell: Tell): Promise<Inspection> {
  const octet = await core();
  const { request, files, unlessFailed } = requestFor(model, tell);
  const { report } = unlessFailed(octet.inspect_model({ ...request, options }));
  return { report, files };
}

async function prepare(
  { model, options, output, place }: Requests['prepare'], tell: Tell,
): Promise<PreparedModel> {
  const octet = await core();
  const { request, unlessFailed } = requestFor(model, tell);
  const made = await stored(output, place, (sink) =>
    unlessFailed(octet.prepare_model({ ...request, options, output, sink })));
  return { output: made.output, report: made.written.report };
}

async function quantize(
  { model, options, ranges, output, place, search }: Requests['quantize'], tell: Tell,
): Promise<QuantizedModel> {
  const octet = await core();
  const { request, unlessFailed } = requestFor(model, tell);
  const { progress } = request, asked = { ...request, options, ranges };
  const made = await stored(output, place, async (sink) => {
    if (!search) return unlessFailed(octet.quantize_model({ ...asked, output, sink }));
    return searchAndFinish(octet, asked, model, search, search.threads, tell, { output, sink, progress });
  });
  return { output: made.output, report: made.written.report };
}

async function auto(
  { output, place, ...work }: Requests['auto'], tell: Tell, found: (found: AutoFound) => void, stop: AbortSignal,
): Promise<AutoResult> {
  const octet = await core();
  tell({ stage: 'runtime', done: 0, total: 1 });
  const { request, unlessFailed } = requestFor(work.model, tell);
  const start: Parameters<typeof searchAutomatically>[1] = (asked) =>
    unlessFailed(octet.start_auto({ ...request, ...asked }));
  const { state, plan, log } = await searchAutomatically(octet, start, work, { tell, found, stop });
  const options = { plan, external_data: work.options.external_data };
  const made = await stored(output, place, (sink) =>
    unlessFailed(octet.quantize_model({ ...request, options, output, sink })));
  return { ...state, output: made.output, report: made.written.report, plan, log };
}

async function readSamples({ model, samples, limit }: Requests['readSamples'], pull: Pull): Promise<SamplesRead> {
  const octet = await core();
  if ('synthetic' in samples) {
    const { list, description } = makeUp(octet, model, samples.synthetic);
    const named = list.slice(0, limit).map((tensors, i) => ({ name: `sample ${i + 1}`, tensors }));
    return { samples: named, count: list.length, description, picture: false, image: null };
  }
  const { named, count, ...opened } = openSamples(octet, model, samples, pull);
  const { description, picture, image } = opened;
  const read: SamplesRead['samples'] = [];
  for await (const { name, sample: tensors } of named) {
    if (read.push({ name, tensors }) >= limit) break;
  }
  return { samples: read, count: count ?? -1, description, picture, image };
}

async function weightHistogram(
  { model, tensor, axis, bins, options }: Requests['weightHistogram'], tell: Tell,
): Promise<TensorHistogram> {
  const octet = await core();
  const { request, unlessFailed } = requestFor(model, tell);
  const tensors = [{ tensor, axis }];
  return unlessFailed(octet.weight_histograms({ ...request, tensors, bins, options })).histograms[0]!;
}

async function calibrate(
  { model, options, samples, threads }: Requests['calibrate'], pull: Pull, tell: Tell,
): Promise<Calibrated> {
  tell({ stage: 'runtime', done: 0, total: 1 });
  const octet = await core(), ort = runtimeWith(threads);
  const learn = (given: AsyncIterable<Sample> | Sample[], total: number | null) => {
    const { request, unlessFailed } = requestFor(model, tell);
    const start_calibration: OctetModule['start_calibration'] = (asked) => unlessFailed(octet.start_calibration(asked));
    const hooks = { onProgress: tell, total: total ?? undefined };
    return run({ start_calibration }, ort, request, given, options, hooks);
  };
  if ('synthetic' in samples) {
    return firstThatRuns(octet, model, samples.synthetic, ({ list }) => learn(list, list.length));
  }
  const opened = openSamples(octet, model, samples, pull);
  return learn(plain(opened), opened.count);
}

// The page's answer to the one sample that was asked for.
let arrived: ((sample: Sample | null) => void) | undefined;

let stopping = new AbortController();

async function work(job: Job, pull: Pull, tell: Tell, stop: AbortSignal): Promise<Replies[Kind]> {
  if ('model' in job.payload) {
    const { model, files = {} } = job.payload.model;
    await copyLarge([model, ...Object.values(files)]);
  }
  switch (job.kind) {
    case 'inspect':
      return inspect(job.payload, tell);
    case 'prepare':
      return prepare(job.payload, tell);
    case 'quantize':
      return quantize(job.payload, tell);
    case 'auto':
      return auto(job.payload, tell, (found) => post({ id: job.id, event: 'found', found }), stop);
    case 'calibrate':
      return calibrate(job.payload, pull, tell);
    case 'layers':
      return compareLayers(await core(), job.payload, pull, tell);
    case 'warmUp':
      await Promise.all([core(), warmUp(job.payload.threads)]);
      return null;
    case 'measure':
      return measure(await core(), job.payload, pull, tell, (partial) =>
        post({ id: job.id, event: 'partial', partial }));
    case 'readSamples':
      return readSamples(job.payload, pull);
    case 'weightHistogram':
      return weightHistogram(job.payload, tell);
    case 'activationHistograms':
      return checked((await core()).activation_histograms(job.payload)).histograms;
  }
}

const post = (message: FromWorker) => self.postMessage(message);

// Whatever the core or the runtime threw without words of their own left them in no state to go on from.
function inWords(error: unknown): { error: WorkError; fatal: boolean } {
  if (error instanceof OctetError) return { error: error.error, fatal: error.error.problem.includes('memory') };
  const said = wantsMemory(error) ? outOfMemory('') : failure('internal', String(error), 'try again');
  return { error: said.error, fatal: true };
}

async function receive({ data }: MessageEvent<ToWorker>) {
  if (data.kind === 'sample') return arrived?.(data.sample);
  if (data.kind === 'stop') return stopping.abort();
  stopping = new AbortController();
  const { id } = data;
  const pull = () => new Promise<Sample | null>((resolve) => {
    arrived = resolve;
    post({ id, event: 'pull' });
  });
  const tell: Tell = (progress) => post({ id, event: 'progress', progress });
  try {
    post({ id, event: 'done', result: await work(data, pull, tell, stopping.signal) });
  } catch (error) {
    post({ id, event: 'failed', ...inWords(error) });
  }
}

// The runtime starts its threads from the script that it is in, which is this one: those are not ours.
if (!self.name.startsWith('em-pthread')) self.onmessage = receive;
