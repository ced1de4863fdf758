// The same run on the command line: it gives the same bytes.
import type { Options, Synthetic, Thresholds } from 'octet-wasm';

/** What the command reads and writes, by file name. */
export interface CommandFiles {
  input: string;
  output: string;
  /** What calibration learned, for static mode. */
  ranges?: string;
  /** Where the run measured its way to a plan, or was given one: the plan then says it all, but for ranges that it lacks. */
  plan?: string;
}

export type Flag = [flag: string, value?: string | number | readonly string[]];

function flagsOf(options: Options): Flag[] {
  const flags: Flag[] = [];
  const when = (given: unknown, ...flag: Flag) => {
    if (given) flags.push(flag);
  };
  const { per_channel, weight_type, nodes_to_quantize, nodes_to_exclude, op_types } = options;
  when(weight_type && weight_type !== 'qint8', '--weight-type', weight_type);
  when(per_channel === true, '--per-channel');
  when(per_channel === false, '--per-tensor');
  when(options.reduce_range, '--reduce-range');
  when(options.block_size, '--block-size', options.block_size);
  if (options.mode === 'static') {
    when(options.format && options.format !== 'qdq', '--format', options.format);
    const { activation_type, method } = options;
    when(activation_type && activation_type !== 'quint8', '--activation-type', activation_type);
    when(options.symmetric_activations, '--symmetric-activations');
    when(method && method !== 'best', '--method', method);
    when(options.percentile !== undefined, '--percentile', options.percentile);
    when(options.round_outputs, '--round-outputs');
  }
  when(nodes_to_quantize?.length, '--nodes-to-quantize', nodes_to_quantize);
  when(nodes_to_exclude?.length, '--nodes-to-exclude', nodes_to_exclude);
  when(op_types?.length, '--op-types', op_types);
  return flags;
}

/** Of a verdict. */
export const thresholdFlags = (limits: Thresholds): Flag[] =>
  (['min_sqnr', 'min_smaller', 'slower', 'faster'] as const).flatMap((name) =>
    limits[name] === undefined ? [] : [[`--${name.replace('_', '-')}`, limits[name]] as Flag]);

/** Of made-up inputs. */
export const syntheticFlags = ({ seed, dims = {}, fixed = {} }: Synthetic): Flag[] => [
  ...(seed === undefined ? [] : [['--seed', seed] as Flag]),
  ...Object.entries(dims).map(([name, size]): Flag => ['--dim', `${name}=${size}`]),
  ...Object.entries(fixed).map(([name, value]): Flag => ['--fix', `${name}=${value}`]),
];

export function wordsOf(flags: Flag[]): string[] {
  return flags.flatMap(([flag, value]) =>
    value === undefined ? [flag] : [flag, quote(Array.isArray(value) ? value.join(',') : String(value))]);
}

/** `checking`: how the result is judged, which does not change it. */
export function commandLine(files: CommandFiles, options: Options, checking: Flag[] = []): string {
  const words = ['octet quantize', quote(files.input), '-o', quote(files.output)];
  const flags: Flag[] = [
    ['--mode', options.mode ?? 'dynamic'],
    ['--target', options.target ?? 'wasm'],
  ];
  if (files.plan) flags.push(['--plan', files.plan]);
  else flags.push(...flagsOf(options));
  if (files.ranges) flags.push(['--ranges', files.ranges]);
  if (options.prepare === false) flags.push(['--no-prepare']);
  if (options.external_data) flags.push(['--external-data']);
  return [...words, ...wordsOf([...flags, ...checking])].join(' ');
}

// For POSIX shells; what a shell would expand or split stands in quotes.
export const quote = (word: string) => (/^[\w.+,:/=@%-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
