// The command that times a run natively, for who has no `octet serve`: its report is dropped here.
import { BUNDLED } from '../bundled';
import { imageOptions, syntheticOf, thresholdsOf } from '../options';
import type { Run } from '../state/runs';
import { hasPictures } from '../state/samples';
import type { SampleSet } from '../state/samples';
import { quote, syntheticFlags, thresholdFlags, wordsOf } from './command_line';

export const REPORT_FILE = 'bench.json';

const SAMPLES = 'samples';

interface Data {
  path: string;
  /** What must be there. */
  where: string;
}

// Where samples came in a folder that is called so again; a single file by its name.
function dataOf(run: Run, set: SampleSet | null): Data | null {
  const files = set?.kind === 'files' ? set.files : null;
  if (!(files ?? !run.comparison?.samples.synthetic)) return null;
  const [first] = files ?? [];
  if (first && files!.length === 1 && !first.name.includes('/')) return { path: first.name, where: first.name };
  const folder = first?.name.includes('/') ? first.name.split('/')[0]! : null;
  if (folder && files!.every(({ name }) => name.startsWith(`${folder}/`))) {
    return { path: folder, where: `the folder ${folder}` };
  }
  return { path: SAMPLES, where: `the samples in a folder ${SAMPLES}` };
}

function pictureFlags(run: Run, set: SampleSet | null): string[] {
  if (!hasPictures(set)) return [];
  const usual = { image_order: 'rgb', image_fit: 'stretch' } as Record<string, unknown>;
  return Object.entries(imageOptions(run.choices))
    .filter(([name, value]) => value !== usual[name])
    .map(([name, value]) => `--${name.replaceAll('_', '-')} ${quote(String(value))}`);
}

export interface BenchCommand {
  text: string;
  /** What must lie in the folder where it is typed, in words. */
  beside: string[];
}

/** `set`: what was checked on in the browser; null where that is not known any more. */
export function benchCommand(run: Run, set: SampleSet | null): BenchCommand {
  const { source, output } = run;
  const bundled = BUNDLED.find(({ file, bytes }) => file === source.name && bytes === source.bytes);
  const sources = bundled && (set === null || (set.kind === 'files' && set.from === bundled.file));
  const data = sources ? { path: `${bundled.folder}/eval`, where: '' } : dataOf(run, set);
  const float = sources ? `${bundled.folder}.onnx` : source.name;
  const words = [
    'octet bench', quote(float), quote(output.name), ...(data ? [`--data ${quote(data.path)}`] : []),
    ...pictureFlags(run, set), ...wordsOf(data ? [] : syntheticFlags(syntheticOf(run.choices))),
    ...wordsOf(thresholdFlags(thresholdsOf(run.choices))), `--json > ${REPORT_FILE}`,
  ];
  const beside = sources ? ['Octet’s sources', output.name] : [source.name, output.name, ...(data ? [data.where] : [])];
  return { text: words.join(' '), beside };
}
