// What can be chosen, and what the core makes of it. Names are those of the command line, in snake_case.
import type { Synthetic } from 'octet-wasm';
import type {
  ActivationType, AutoBudget, AutoOptions, Format, Method, Mode, Options, Plan, Target, Thresholds, WeightType,
} from 'octet-core';

export type ChosenMode = Mode | 'auto';

export interface Choices {
  mode: ChosenMode;
  target: Target;
  weight_type: WeightType;
  per_channel: 'auto' | 'channel' | 'tensor';
  reduce_range: boolean;
  prepare: boolean;
  /** 0: only where the type wants blocks. */
  block_size: number;
  nodes_to_quantize: string[];
  nodes_to_exclude: string[];
  op_types: string[];
  external_data: boolean;
  // What the verdict goes by.
  min_smaller: number;
  slower: number;
  faster: number;
  // Static mode.
  format: Format;
  activation_type: ActivationType;
  symmetric_activations: boolean;
  round_outputs: boolean;
  method: Method;
  percentile: number;
  /** 0: not at all. */
  smooth_quant: number;
  equalize: boolean;
  bias_correction: boolean;
  /** In dB; 0: none. */
  min_sqnr: number;
  // What the automatic search keeps to; 0: no such limit.
  budget_sqnr: number;
  /** Right answers lost, in percent; -1: decibels count. */
  budget_drop: number;
  budget_mb: number;
  budget_speedup: number;
  budget_seconds: number;
  // How calibration samples are taken.
  /** 0: all there are. */
  limit: number;
  /** -1: by name. */
  shuffle: number;
  // How inputs are made up.
  seed: number;
  /** NAME=N. */
  dims: string[];
  /** NAME=VALUE. */
  fixed: string[];
  // What pictures become.
  image_size: string;
  image_fit: 'stretch' | 'crop' | 'pad';
  image_layout: 'auto' | 'nchw' | 'nhwc';
  image_order: 'rgb' | 'bgr';
  image_scale: string;
  image_mean: string;
  image_std: string;
}

export const DEFAULTS: Choices = {
  mode: 'weights', target: 'wasm', weight_type: 'qint8', per_channel: 'auto', reduce_range: false, prepare: true,
  block_size: 0, nodes_to_quantize: [], nodes_to_exclude: [], op_types: [], external_data: false,
  min_smaller: 1.1, slower: 0.95, faster: 1.05,
  format: 'qdq', activation_type: 'quint8', symmetric_activations: false, round_outputs: false, method: 'best',
  percentile: 99.9, smooth_quant: 0, equalize: false, bias_correction: false, min_sqnr: 0,
  budget_sqnr: 25, budget_drop: -1, budget_mb: 0, budget_speedup: 0, budget_seconds: 90, limit: 0, shuffle: -1, seed: 1, dims: [],
  fixed: [],
  image_size: '', image_fit: 'stretch', image_layout: 'auto', image_order: 'rgb', image_scale: '', image_mean: '',
  image_std: '',
};

/** Options that measure as they go, and so need samples. */
export const SEARCHES = ['smooth_quant', 'equalize', 'bias_correction', 'min_sqnr'] as const;

/** Whether quantizing is a search; the command line would search again, with its own runs. */
export const searched = (options: Options): boolean => SEARCHES.some((name) => Boolean(options[name]));

const bitsOf = (type: WeightType | ActivationType) => Number(/\d+$/.exec(type)![0]);

export const is8Bit = (type: WeightType | ActivationType) => bitsOf(type) === 8;

// Dynamic mode computes with 8-bit weights alone, static mode with 8 or 16 bits; 4 bits are stored and no more.
export function fitsMode(type: WeightType, mode: ChosenMode): boolean {
  return mode === 'weights' || (mode === 'static' ? bitsOf(type) >= 8 : bitsOf(type) === 8);
}

/** Modes that learn ranges from samples. */
export const calibrates = (mode: ChosenMode): boolean => mode === 'static' || mode === 'auto';

/** Choices that contradict others give way: what is asked for can then be done. */
export function settled(choices: Choices): Choices {
  const { mode } = choices;
  const weight_type = fitsMode(choices.weight_type, mode) ? choices.weight_type : DEFAULTS.weight_type;
  const format = is8Bit(choices.activation_type) && is8Bit(weight_type) ? choices.format : 'qdq';
  const block_size = mode === 'weights' && bitsOf(weight_type) <= 8 ? choices.block_size : 0;
  const reduce_range = choices.reduce_range && is8Bit(weight_type);
  return { ...DEFAULTS, ...choices, weight_type, format, block_size, reduce_range };
}

// What a plan leaves open: how the file is stored, which data is taken, what the verdict goes by.
const BESIDE_PLAN: (keyof Choices)[] = [
  'external_data', 'limit', 'shuffle', 'image_size', 'image_fit', 'image_layout', 'image_order', 'image_scale',
  'image_mean', 'image_std', 'min_smaller', 'slower', 'faster', 'seed',
  'dims', 'fixed',
];

export const decidedByPlan = (key: keyof Choices): boolean => !BESIDE_PLAN.includes(key);

/** What is in force where a plan is given. */
export function underPlan(choices: Choices, { mode, target, prepared }: Plan): Choices {
  const open = Object.fromEntries(BESIDE_PLAN.map((key) => [key, choices[key]])) as Partial<Choices>;
  return { ...DEFAULTS, ...open, mode, target, prepare: prepared };
}

/** What there is to say beside a plan; mode and target are its own. */
export function planOptions({ mode, target, prepare, external_data }: Choices): Options {
  return { mode: mode as Mode, target, ...(!prepare && { prepare }), ...(external_data && { external_data }) };
}

/** What the automatic search takes. */
export function autoOptions({ target, nodes_to_quantize, nodes_to_exclude, op_types, external_data }: Choices): AutoOptions {
  return {
    target,
    ...(nodes_to_quantize.length > 0 && { nodes_to_quantize }),
    ...(nodes_to_exclude.length > 0 && { nodes_to_exclude }),
    ...(op_types.length > 0 && { op_types }),
    ...(external_data && { external_data }),
  };
}

export function budgetOf(c: Choices): AutoBudget {
  return {
    ...(c.budget_drop >= 0 ? { max_drop: c.budget_drop } : { min_sqnr: c.budget_sqnr }),
    seconds: c.budget_seconds,
    ...(c.budget_mb > 0 && { max_bytes: Math.round(c.budget_mb * 1e6) }),
    ...(c.budget_speedup > 0 && { min_speedup: c.budget_speedup }),
  };
}

/** What the verdict goes by, where that is not the usual. */
export function thresholdsOf(choices: Choices): Thresholds {
  const c = { ...DEFAULTS, ...choices }; // runs from before there were these have none
  return {
    ...(c.mode !== 'auto' && c.min_sqnr > 0 && { min_sqnr: c.min_sqnr }),
    ...(c.min_smaller !== DEFAULTS.min_smaller && { min_smaller: c.min_smaller }),
    ...(c.slower !== DEFAULTS.slower && { slower: c.slower }),
    ...(c.faster !== DEFAULTS.faster && { faster: c.faster }),
  };
}

/** Without what is so anyway. */
export function toOptions(choices: Choices): Options {
  const c = settled(choices);
  // Of what the search may choose, the plan that changes most.
  if (c.mode === 'auto') return { mode: 'static', ...autoOptions(c) };
  const options: Options = { mode: c.mode, target: c.target, weight_type: c.weight_type };
  if (c.per_channel !== 'auto') options.per_channel = c.per_channel === 'channel';
  if (c.reduce_range) options.reduce_range = true;
  if (!c.prepare) options.prepare = false;
  if (c.block_size > 0) options.block_size = c.block_size;
  for (const list of ['nodes_to_quantize', 'nodes_to_exclude', 'op_types'] as const) {
    if (c[list].length > 0) options[list] = c[list];
  }
  if (c.external_data) options.external_data = true;
  if (c.min_sqnr > 0) options.min_sqnr = c.min_sqnr;
  if (c.mode === 'static') Object.assign(options, staticOptions(c));
  return options;
}

function staticOptions(c: Choices): Options {
  const options: Options = {};
  if (c.format !== DEFAULTS.format) options.format = c.format;
  if (c.activation_type !== DEFAULTS.activation_type) options.activation_type = c.activation_type;
  if (c.symmetric_activations) options.symmetric_activations = true;
  if (c.round_outputs) options.round_outputs = true;
  if (c.method !== DEFAULTS.method) options.method = c.method;
  if (usesPercentile(c) && c.percentile !== DEFAULTS.percentile) options.percentile = c.percentile;
  if (c.smooth_quant > 0) options.smooth_quant = c.smooth_quant;
  if (c.equalize) options.equalize = true;
  if (c.bias_correction) options.bias_correction = true;
  return options;
}

export const usesPercentile = ({ method }: Choices) => method === 'percentile' || method === 'best';

const pairOf = (text: string): [name: string, value: string] => {
  const at = text.lastIndexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
};

/** How inputs are made up, where that is not as usual. */
export function syntheticOf(choices: Choices): Synthetic {
  const { seed, dims, fixed } = { ...DEFAULTS, ...choices };
  return {
    ...(seed !== DEFAULTS.seed && { seed }),
    ...(dims.length > 0 && { dims: Object.fromEntries(dims.map(pairOf).map(([name, size]) => [name, Number(size)])) }),
    ...(fixed.length > 0 && { fixed: Object.fromEntries(fixed.map(pairOf)) }),
  };
}

/** As the core's options of pictures. */
export function imageOptions(c: Choices): Record<string, unknown> {
  const numbers = (text: string) => text.split(',').map(Number);
  return {
    ...(c.image_size && { image_size: c.image_size }),
    ...(c.image_layout !== 'auto' && { image_layout: c.image_layout }),
    ...(c.image_mean && { image_mean: numbers(c.image_mean) }),
    ...(c.image_std && { image_std: numbers(c.image_std) }),
    ...(c.image_scale && { image_scale: Number(c.image_scale) }),
    image_order: c.image_order,
    image_fit: c.image_fit,
  };
}

/** Weights only, with the default of everything: the widest plan. */
export const WIDEST = toOptions({ ...DEFAULTS, mode: 'weights' });

/** Whether both mean the same run. */
export function sameChoices(a: Choices, b: Choices): boolean {
  return JSON.stringify(settled(a)) === JSON.stringify(settled(b));
}
