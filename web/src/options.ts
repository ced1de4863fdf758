// What can be chosen, and the words for it.
import type { Mode, Options, Target, WeightType } from 'octet-core';

export interface Choice<T extends string> {
  value: T;
  label: string;
  help: string;
}

export const MODES: Choice<Mode>[] = [
  {
    value: 'weights', label: 'Weights only',
    help: 'Weights are stored in 8 bits, arithmetic stays in float. A quarter of the size at the same speed; '
      + 'fits every model.',
  },
  {
    value: 'dynamic', label: 'Dynamic',
    help: 'Matrix products run in 8-bit integers; ranges of activations are found while the model runs. '
      + 'Fits transformers and LSTMs.',
  },
];

export const TARGETS: Choice<Target>[] = [
  { value: 'wasm', label: 'a web page', help: 'onnxruntime-web: forms that cost no speed in WebAssembly' },
  { value: 'x64', label: 'x64 with VNNI', help: 'recent Intel and AMD processors' },
  { value: 'x64-novnni', label: 'x64 without VNNI', help: 'older ones: 7 bits, so that products do not saturate' },
  { value: 'arm64', label: '64-bit ARM', help: 'phones, boards, recent Macs' },
  { value: 'any', label: 'any of them', help: 'forms that are safe everywhere' },
];

export const WEIGHT_TYPES: Choice<WeightType>[] = [
  { value: 'qint8', label: '8 bits, signed', help: 'the default' },
  { value: 'quint8', label: '8 bits, unsigned', help: 'for weights that all have one sign' },
  { value: 'qint4', label: '4 bits, signed', help: 'matrices in blocks of 32; an eighth of the size, more drift' },
  { value: 'quint4', label: '4 bits, unsigned', help: 'matrices in blocks of 32, with a zero point each' },
  { value: 'qint16', label: '16 bits, signed', help: 'half the size, hardly any drift' },
];

export const CHANNELS = [
  { value: 'auto', label: 'where it is exact', help: 'a scale per output channel wherever the operator allows it' },
  { value: 'channel', label: 'per channel', help: 'a scale per output channel' },
  { value: 'tensor', label: 'per tensor', help: 'one scale per weight: smallest, more drift' },
] as const;

export type Channels = (typeof CHANNELS)[number]['value'];

export const PREPARATION = [
  { value: 'first', label: 'first', help: 'folds, cleans up and fuses; computes the same' },
  { value: 'none', label: 'not at all', help: 'quantizes the model as it was exported' },
] as const;

export type Preparation = (typeof PREPARATION)[number]['value'];

export interface Choices {
  mode: Mode;
  target: Target;
  weightType: WeightType;
  channels: Channels;
  preparation: Preparation;
  /** Nodes that stay in float: names, globs, op:TYPE. */
  excluded: string[];
}

export const DEFAULTS: Choices = {
  mode: 'weights', target: 'wasm', weightType: 'qint8', channels: 'auto', preparation: 'first', excluded: [],
};

// Dynamic mode computes with 8-bit weights and no others.
export const fitsMode = (type: WeightType, mode: Mode) => mode === 'weights' || type.endsWith('int8');

export function toOptions({ mode, target, weightType, channels, preparation, excluded }: Choices): Options {
  const options: Options = { mode, target, weight_type: fitsMode(weightType, mode) ? weightType : 'qint8' };
  if (channels !== 'auto') options.per_channel = channels === 'channel';
  if (preparation === 'none') options.prepare = false;
  if (excluded.length > 0) options.nodes_to_exclude = excluded;
  return options;
}

// The same run on the command line.
export function commandLine(input: string, output: string, choices: Choices): string {
  const { mode, target } = choices, options = toOptions(choices);
  const words = ['octet quantize', quote(input), '-o', quote(output), '--mode', mode, '--target', target];
  if (options.weight_type !== 'qint8') words.push('--weight-type', options.weight_type!);
  if (options.per_channel !== undefined) words.push(options.per_channel ? '--per-channel' : '--per-tensor');
  if (options.prepare === false) words.push('--no-prepare');
  if (options.nodes_to_exclude) words.push('--nodes-to-exclude', quote(options.nodes_to_exclude.join(',')));
  return words.join(' ');
}

const quote = (name: string) => (/^[\w.+-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`);
