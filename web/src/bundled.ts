// Two small models that come with the page, each with the samples to calibrate and to check it on.
import digitsSamples from 'samples:digits_cnn';
import gptSamples from 'samples:gpt_char';
import type { SampleFile } from 'octet-wasm';
import digits from '../../tests/data/digits_cnn.onnx?url';
import gpt from '../../tests/data/gpt_char.onnx?url';

declare const SAMPLE_BYTES: { digits_cnn: number; gpt_char: number };

export interface BundledModel {
  title: string;
  what: string;
  file: string;
  bytes: number;
  model: string;
  /** An archive of calib/ and eval/. */
  samples: string;
  /** In Octet's sources, where the model has the same name with ".onnx" added. */
  folder: string;
}

export const BUNDLED: BundledModel[] = [
  {
    title: 'Digits', what: 'convolutions, 8 × 8 pictures', file: 'digits_cnn.onnx', bytes: SAMPLE_BYTES.digits_cnn,
    model: digits, samples: digitsSamples, folder: 'tests/data/digits_cnn',
  },
  {
    title: 'Small GPT', what: 'a transformer over characters', file: 'gpt_char.onnx', bytes: SAMPLE_BYTES.gpt_char,
    model: gpt, samples: gptSamples, folder: 'tests/data/gpt_char',
  },
];

async function fetchBlob(url: string, signal: AbortSignal): Promise<Blob> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return response.blob();
}

export interface FetchedModel {
  model: Blob;
  calibration: SampleFile[];
  evaluation: SampleFile[];
}

export async function fetchBundled(bundled: BundledModel, signal: AbortSignal): Promise<FetchedModel> {
  const [model, archive, { unzipSync }] = await Promise.all([
    fetchBlob(bundled.model, signal), fetchBlob(bundled.samples, signal), import('fflate'),
  ]);
  const files = Object.entries(unzipSync(new Uint8Array(await archive.arrayBuffer())));
  const inside = (folder: string) => files
    .filter(([name]) => name.startsWith(folder))
    .map(([name, bytes]) => ({ name: name.slice(folder.length), blob: new Blob([bytes as BlobPart]) }));
  return { model, calibration: inside('calib/'), evaluation: inside('eval/') };
}
