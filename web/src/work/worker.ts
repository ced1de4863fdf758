// Everything that takes time: the core, and the runtime once there is something to run.
import createOctet from 'octet-core';
import type { Failure, OctetModule } from 'octet-core';
import { failure, WorkFailure } from './protocol';
import type { FromWorker, Inspected, Kind, Progress, Quantized, Replies, Requests, ToWorker } from './protocol';
import { openable } from './readers';

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
function requestFor({ source, options }: Requests['inspect'], tell: Tell) {
  const files: Record<string, Blob> = {};
  let missing: string | undefined;
  const asked = (location: string, file: Blob | null) => {
    if (file) files[location] = file;
    else missing ??= location;
  };
  const request = { ...openable(source, asked), options, progress: throttled(tell) };
  const refuse = ({ error }: Failure) => new WorkFailure(missing === undefined ? error : { ...error, missing });
  return { request, files, refuse };
}

async function inspect(payload: Requests['inspect'], tell: Tell): Promise<Inspected> {
  const octet = await core();
  const { request, files, refuse } = requestFor(payload, tell);
  const result = octet.inspect_model(request);
  if ('error' in result) throw refuse(result);
  return { report: result.report, files };
}

async function quantize(payload: Requests['quantize'], tell: Tell): Promise<Quantized> {
  const octet = await core();
  const { request, refuse } = requestFor(payload, tell);
  const result = octet.quantize_model({ ...request, output: payload.output });
  if ('error' in result) throw refuse(result);
  const { model, external, external_name: name } = result;
  const files: Record<string, Blob> = external && name ? { [name]: new Blob([external as BlobPart]) } : {};
  return { candidate: { name: payload.output, model: new Blob([model as BlobPart]), files }, report: result.report };
}

async function work(message: ToWorker, tell: Tell): Promise<Replies[Kind]> {
  switch (message.kind) {
    case 'inspect':
      return inspect(message.payload, tell);
    case 'quantize':
      return quantize(message.payload, tell);
    case 'measure': {
      tell({ stage: 'runtime', done: 0, total: 1 });
      const { measure } = await import('./measure');
      return measure(await core(), message.payload, tell);
    }
  }
}

const post = (message: FromWorker) => self.postMessage(message);

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  const { id } = data;
  try {
    post({ id, event: 'done', result: await work(data, (progress) => post({ id, event: 'progress', progress })) });
  } catch (error) {
    const known = error instanceof WorkFailure ? error : failure('internal', String(error));
    post({ id, event: 'failed', error: known.error });
  }
};
