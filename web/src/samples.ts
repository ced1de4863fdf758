// Two small models that come with the page, with a few of the samples they were tested on.
import digits0 from '../../tests/data/digits_cnn/eval/0000.npz?url';
import digits1 from '../../tests/data/digits_cnn/eval/0001.npz?url';
import digits from '../../tests/data/digits_cnn.onnx?url';
import gpt0 from '../../tests/data/gpt_char/eval/0000.npz?url';
import gpt1 from '../../tests/data/gpt_char/eval/0001.npz?url';
import gpt from '../../tests/data/gpt_char.onnx?url';

declare const SAMPLE_BYTES: { digits_cnn: number; gpt_char: number };

export interface BundledSample {
  title: string;
  what: string;
  file: string;
  bytes: number;
  model: string;
  samples: string[];
}

export const BUNDLED: BundledSample[] = [
  {
    title: 'Digits', what: 'convolutions, 8 × 8 pictures', file: 'digits_cnn.onnx', bytes: SAMPLE_BYTES.digits_cnn,
    model: digits, samples: [digits0, digits1],
  },
  {
    title: 'Small GPT', what: 'a transformer over characters', file: 'gpt_char.onnx', bytes: SAMPLE_BYTES.gpt_char,
    model: gpt, samples: [gpt0, gpt1],
  },
];

export async function fetchBlob(url: string): Promise<Blob> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return response.blob();
}
