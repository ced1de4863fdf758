// How each option is shown: its words, its kind, where it belongs. The first entry of a list is the default.
import { DEFAULTS, fitsMode, is8Bit, usesPercentile } from './options';
import type { ChosenMode, Choices } from './options';

export interface Entry {
  value: string;
  label: string;
  help: string;
}

interface Common {
  key: keyof Choices;
  label: string;
  /** One sentence; of selects the chosen entry's says it. */
  help: string;
  group: 'first' | 'more' | 'samples' | 'made up' | 'pictures' | 'mode';
  /** The modes it is for; all where absent. */
  modes?: ChosenMode[];
  /** Whether it matters, everything else being as it is. */
  when?: (choices: Choices) => boolean;
}

export interface SelectField extends Common {
  kind: 'select';
  entries: Entry[];
  fits?: (value: string, choices: Choices) => boolean;
}

export interface SwitchField extends Common {
  kind: 'switch';
}

export interface NumberField extends Common {
  kind: 'number';
  min: number;
  max: number;
  step: number | 'any';
  /** The value that stands for nothing chosen, shown as an empty field with `placeholder` in it. */
  none?: number;
  placeholder?: string;
}

export interface TextField extends Common {
  kind: 'text';
  pattern: RegExp;
  placeholder: string;
}

export interface ListField extends Common {
  kind: 'list';
  /** Of each entry. */
  pattern?: RegExp;
  placeholder: string;
}

export type Field = SelectField | SwitchField | NumberField | TextField | ListField;

export const MODES: Entry[] = [
  {
    value: 'weights', label: 'Weights only',
    help: 'Weights are stored in 8 bits, arithmetic stays in float. A quarter of the size at the same speed; fits every '
      + 'model and needs no data.',
  },
  {
    value: 'dynamic', label: 'Dynamic',
    help: 'Matrix products run in 8-bit integers; ranges of activations are found while the model runs. Fits transformers '
      + 'and LSTMs and needs no data.',
  },
  {
    value: 'static', label: 'Static',
    help: 'Convolutions and matrix products run in 8-bit integers, with ranges learned from your samples beforehand. The '
      + 'fastest for convolutional models; needs 100 or more samples like those it will meet.',
  },
  {
    value: 'auto', label: 'Automatic',
    help: 'Measures, on your samples and in this browser, which nodes to compute in integers and how, and takes the fastest '
      + 'model that keeps the quality you ask for. Takes a minute or two; needs samples like those it will meet.',
  },
];

export const TARGETS: Entry[] = [
  { value: 'wasm', label: 'a web page', help: 'onnxruntime-web: weights in forms that cost no speed in WebAssembly' },
  { value: 'x64', label: 'x64 with VNNI', help: 'recent Intel and AMD processors: 8 bits at full speed' },
  { value: 'x64-novnni', label: 'x64 without VNNI', help: 'older ones: weights in 7 bits, so that sums do not overflow' },
  { value: 'arm64', label: '64-bit ARM', help: 'phones, boards, recent Macs' },
  { value: 'any', label: 'any of them', help: 'forms that are safe in a browser and on every processor' },
];

const { weight_type, activation_type, format, block_size, reduce_range } = DEFAULTS;
/** What choosing another target sets back: the core knows what is quick there. */
export const PRESET: Partial<Choices> = { weight_type, activation_type, format, block_size, reduce_range };

const WEIGHT_TYPES: Entry[] = [
  { value: 'qint8', label: '8 bits, signed', help: 'a quarter of the size; right for nearly every model' },
  { value: 'quint8', label: '8 bits, unsigned', help: 'for weights that all have one sign' },
  { value: 'qint4', label: '4 bits, signed', help: 'matrices in blocks: an eighth of the size, more drift, slow in browsers' },
  { value: 'quint4', label: '4 bits, unsigned', help: 'the same with a zero point for each block' },
  { value: 'qint16', label: '16 bits, signed', help: 'half the size, hardly any drift' },
  { value: 'quint16', label: '16 bits, unsigned', help: 'half the size, for weights that all have one sign' },
];

const METHODS: Entry[] = [
  { value: 'best', label: 'best of all', help: 'takes for each tensor the method that errs least on your samples' },
  { value: 'minmax', label: 'minimum and maximum', help: 'the whole range that was seen; one outlier widens it' },
  { value: 'average', label: 'average', help: 'a moving average of every sample’s minimum and maximum' },
  { value: 'entropy', label: 'entropy', help: 'keeps the distribution of values as it was; cuts off rare ones' },
  { value: 'percentile', label: 'percentile', help: 'a share of the values that you name lies inside, the rest is cut off' },
  { value: 'mse', label: 'mean squared error', help: 'the range that rounds with the least squared error' },
];

const STATIC: ChosenMode[] = ['static'], LEARNS: ChosenMode[] = ['static', 'auto'];
const AUTOMATIC: ChosenMode[] = ['auto'], BY_HAND: ChosenMode[] = ['weights', 'dynamic', 'static'];
const isPictures = /^(|-?[\d.]+(e-?\d+)?(,-?[\d.]+(e-?\d+)?)*)$/i;

export const FIELDS: Field[] = [
  { kind: 'select', key: 'mode', label: 'Mode', help: '', group: 'mode', entries: MODES },
  { kind: 'select', key: 'target', label: 'It will run in', help: '', group: 'first', entries: TARGETS },
  {
    kind: 'select', key: 'weight_type', label: 'Weights in', help: '', group: 'first', modes: BY_HAND, entries: WEIGHT_TYPES,
    fits: (value, { mode }) => fitsMode(value as Choices['weight_type'], mode),
  },
  {
    kind: 'select', key: 'per_channel', label: 'Scales', help: '', group: 'first', modes: BY_HAND, entries: [
      { value: 'auto', label: 'per channel where exact', help: 'a scale for every output channel wherever the operator allows it' },
      { value: 'channel', label: 'per channel', help: 'a scale for every output channel' },
      { value: 'tensor', label: 'per tensor', help: 'one scale for each weight: a little smaller, more drift' },
    ],
  },
  {
    kind: 'select', key: 'method', label: 'Ranges by', help: '', group: 'first', modes: STATIC, entries: METHODS,
  },
  {
    kind: 'number', key: 'budget_sqnr', label: 'Lowest SQNR, in dB', group: 'first', modes: AUTOMATIC, min: 0, max: 120,
    step: 'any', help: 'Of the worst output on your samples: 25 dB is an error of 6 % of its size, 40 dB one of 1 %.',
    when: ({ budget_drop }) => budget_drop < 0,
  },
  {
    kind: 'number', key: 'budget_drop', label: 'Right answers lost, in %', group: 'first', modes: AUTOMATIC, min: 0, max: 100,
    step: 'any', none: -1, placeholder: 'by SQNR',
    help: 'Instead of decibels: so many fewer than FP32 gives, by a labels.json among the samples to check on.',
  },
  {
    kind: 'number', key: 'budget_seconds', label: 'Time limit, in seconds', group: 'first', modes: AUTOMATIC, min: 5,
    max: 3600, step: 'any', help: 'Of measuring; then the best so far is taken.',
  },
  {
    kind: 'number', key: 'budget_mb', label: 'Largest file, in MB', group: 'first', modes: AUTOMATIC, min: 0, max: 1e5,
    step: 'any', none: 0, placeholder: 'any', help: 'What is larger is not chosen.',
  },
  {
    kind: 'number', key: 'budget_speedup', label: 'Least speedup', group: 'first', modes: AUTOMATIC, min: 0, max: 100,
    step: 'any', none: 0, placeholder: 'any', help: 'How many times as fast as FP32 in this browser it must be.',
  },
  {
    kind: 'number', key: 'percentile', label: 'Values inside the range, in %', group: 'first', modes: STATIC, min: 50,
    max: 100, step: 'any', help: 'The rest lies outside and is cut off.', when: ({ method }) => method === 'percentile',
  },
  {
    kind: 'select', key: 'activation_type', label: 'Activations in', help: '', group: 'more', modes: STATIC, entries: [
      { value: 'quint8', label: '8 bits, unsigned', help: 'the fast one everywhere' },
      { value: 'qint8', label: '8 bits, signed', help: 'slow on x64 and in browsers' },
      { value: 'quint16', label: '16 bits, unsigned', help: 'little drift, at the speed of float' },
      { value: 'qint16', label: '16 bits, signed', help: 'little drift, at the speed of float' },
    ],
  },
  {
    kind: 'select', key: 'format', label: 'Written as', help: '', group: 'more', modes: STATIC, entries: [
      { value: 'qdq', label: 'QDQ pairs', help: 'pairs of conversions around ordinary operators: every runtime reads them' },
      { value: 'qoperator', label: 'integer operators', help: 'QLinearConv and its kin, for runtimes that want them' },
    ],
    fits: (value, c) => value === 'qdq' || (is8Bit(c.activation_type) && is8Bit(c.weight_type)),
  },
  {
    kind: 'number', key: 'percentile', label: 'Values inside the range, in %', group: 'more', modes: STATIC, min: 50,
    max: 100, step: 'any', help: 'What the percentile means that the best of all may choose.',
    when: (c) => usesPercentile(c) && c.method !== 'percentile',
  },
  {
    kind: 'number', key: 'smooth_quant', label: 'SmoothQuant', group: 'more', modes: STATIC, min: 0, max: 1, step: 'any',
    none: 0, placeholder: 'off; 0.5 is usual',
    help: 'Moves outliers of a few channels into the weights behind them; for transformers, kept only where it helps.',
  },
  {
    kind: 'number', key: 'min_sqnr', label: 'Floor of quality, in dB', group: 'more', modes: BY_HAND, min: 0, max: 120, step: 'any',
    none: 0, placeholder: 'none; 10 is a low bar', help: 'Below it the worst nodes go back to float, with real samples alone.',
  },
  {
    kind: 'number', key: 'block_size', label: 'Block size', group: 'more', modes: ['weights'], min: 0, max: 65536, step: 1,
    none: 0, placeholder: '32 for 4 bits, else none',
    help: 'Matrices get a scale for every block of so many weights (a power of two): less drift, more bytes.',
    when: ({ weight_type }) => !weight_type.endsWith('16'),
  },
  {
    kind: 'list', key: 'nodes_to_exclude', label: 'Leave in float', group: 'more', placeholder: 'none',
    help: 'Nodes by name, by a pattern with * and ?, or all of a type as op:Conv.',
  },
  {
    kind: 'list', key: 'nodes_to_quantize', label: 'Quantize only', group: 'more', placeholder: 'all',
    help: 'Nodes by name, by a pattern with * and ?, or all of a type as op:Conv.',
  },
  {
    kind: 'list', key: 'op_types', label: 'Operators', group: 'more', placeholder: 'those that gain',
    help: 'Only these types; naming Conv allows integer convolutions in dynamic mode.',
  },
  {
    kind: 'switch', key: 'symmetric_activations', label: 'Symmetric activations', group: 'more', modes: STATIC,
    help: 'Zero lies in the middle of each range: simpler arithmetic for some chips, more drift.',
  },
  {
    kind: 'switch', key: 'round_outputs', label: 'Round outputs', group: 'more', modes: STATIC,
    help: 'What a matrix product gives is rounded also where no integer node reads it, as the Python tool does.',
  },
  {
    kind: 'switch', key: 'equalize', label: 'Equalize', group: 'more', modes: STATIC,
    help: 'Shares the spread of weights between a layer and the next; for convolutions, kept only where it helps.',
  },
  {
    kind: 'switch', key: 'bias_correction', label: 'Correct biases', group: 'more', modes: STATIC,
    help: 'Gives back what rounding takes from each channel on average; kept only where it helps.',
  },
  {
    kind: 'switch', key: 'prepare', label: 'Prepare first', group: 'more', modes: BY_HAND,
    help: 'Folds, cleans up and fuses before; the model computes the same.',
  },
  {
    kind: 'switch', key: 'reduce_range', label: '7-bit weights', group: 'more', modes: BY_HAND,
    help: 'For x64 processors without VNNI, whose 8-bit sums overflow; set by itself for that target.',
    when: ({ weight_type }) => is8Bit(weight_type),
  },
  {
    kind: 'switch', key: 'external_data', label: 'External data', group: 'more',
    help: 'Weights stand in a file of their own beside the model; above 2 GB that is always so.',
  },
  {
    kind: 'number', key: 'min_smaller', label: 'Verdict: least shrinking', group: 'more', min: 0.01, max: 1000,
    step: 'any', help: 'In times: what shrank less has to be faster to be worth it.',
  },
  {
    kind: 'number', key: 'slower', label: 'Verdict: slower below', group: 'more', min: 0.01, max: 1, step: 'any',
    help: 'In times: a speedup is a loss where its whole interval lies below this.',
  },
  {
    kind: 'number', key: 'faster', label: 'Verdict: faster above', group: 'more', min: 1, max: 1000, step: 'any',
    help: 'In times: a speedup is a gain where its whole interval lies above this.',
  },
  {
    kind: 'number', key: 'limit', label: 'At most', group: 'samples', modes: LEARNS, min: 0, max: 1e6, step: 1, none: 0,
    placeholder: 'all samples', help: 'So many samples are used to calibrate.',
  },
  {
    kind: 'number', key: 'shuffle', label: 'Shuffled with seed', group: 'samples', modes: LEARNS, min: -1, max: 4294967295,
    step: 1, none: -1, placeholder: 'by name', help: 'Samples are taken in an order drawn with this number.',
  },
  {
    kind: 'number', key: 'seed', label: 'Seed', group: 'made up', min: 0, max: 4294967295, step: 1,
    help: 'The same number makes the same inputs everywhere.',
  },
  {
    kind: 'list', key: 'dims', label: 'Sizes', group: 'made up', pattern: /^.+=\d{1,9}$/, placeholder: 'guessed',
    help: 'Of dimensions that the model leaves open, as NAME=N or INPUT:AXIS=N.',
  },
  {
    kind: 'list', key: 'fixed', label: 'Values', group: 'made up', pattern: /^.+=(true|false|-?[\d.]+(e[+-]?\d+)?)$/i,
    placeholder: 'drawn', help: 'Of inputs that are one number throughout, as NAME=VALUE.',
  },
  {
    kind: 'text', key: 'image_size', label: 'Size', group: 'pictures', pattern: /^(|\d+x\d+)$/i, placeholder: 'as the model wants',
    help: 'Width and height as 224x224, where the model leaves it open.',
  },
  {
    kind: 'select', key: 'image_fit', label: 'Other shapes', help: '', group: 'pictures', entries: [
      { value: 'stretch', label: 'stretch', help: 'a picture of another shape is distorted' },
      { value: 'crop', label: 'crop', help: 'its middle is taken' },
      { value: 'pad', label: 'pad', help: 'it is set on black' },
    ],
  },
  {
    kind: 'select', key: 'image_layout', label: 'Layout', help: '', group: 'pictures', entries: [
      { value: 'auto', label: 'by the input’s shape', help: 'channels stand where the shape has 1 or 3' },
      { value: 'nchw', label: 'channels first', help: 'NCHW, as PyTorch has it' },
      { value: 'nhwc', label: 'channels last', help: 'NHWC, as TensorFlow has it' },
    ],
  },
  {
    kind: 'select', key: 'image_order', label: 'Colours', help: '', group: 'pictures', entries: [
      { value: 'rgb', label: 'red first', help: 'RGB, as nearly all models want it' },
      { value: 'bgr', label: 'blue first', help: 'BGR, for models that were trained with OpenCV' },
    ],
  },
  {
    kind: 'text', key: 'image_scale', label: 'Scale', group: 'pictures', pattern: /^(|[\d.]+(e-?\d+)?)$/i,
    placeholder: '1/255, or 1 for integers', help: 'Each pixel, 0 to 255, is multiplied by it.',
  },
  {
    kind: 'text', key: 'image_mean', label: 'Mean', group: 'pictures', pattern: isPictures, placeholder: '0',
    help: 'Taken from it then: one number, or one for each channel as 0.485,0.456,0.406.',
  },
  {
    kind: 'text', key: 'image_std', label: 'Deviation', group: 'pictures', pattern: isPictures, placeholder: '1',
    help: 'Divided by at last: one number, or one for each channel.',
  },
];

/** The fields of a group that matter for what is chosen. */
export function fieldsOf(group: Field['group'], choices: Choices): Field[] {
  return FIELDS.filter((field) => field.group === group && (field.modes?.includes(choices.mode) ?? true)
    && (field.when?.(choices) ?? true));
}
