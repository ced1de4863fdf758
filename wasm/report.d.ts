// What inspections and quantizations tell: the model as it came, what was done to it, the plan and the sizes.
import type { Action, ActivationType, Form, Format, Method, Mode, Target, WeightType } from './octet.js';

export interface Value {
  name: string;
  type: string;
  shape: string;
}

export interface StoredTensor extends Value {
  bytes: number;
}

/** What the model is, as loaded. */
export interface Facts {
  name: string;
  producer: string;
  ir_version: number;
  opsets: Record<string, number>;
  file_bytes: number;
  parameters: number;
  float_bytes: number;
  stored_bytes: number;
  nodes: number;
  subgraphs: number;
  functions: number;
  quantized_already: boolean;
  operators: Record<string, number>;
  inputs: Value[];
  outputs: Value[];
  largest: StoredTensor[];
}

export interface PassReport {
  pass: string;
  changes: number;
  notes: string[];
}

export interface PlannedNode {
  node: string;
  op: string;
  action: Action;
  form?: Form;
  weights?: string[];
  /** Of static nodes: values read and written in integers, and the activation that rounding replaces. */
  reads?: string[];
  writes?: string[];
  absorbs?: string;
  why: string;
}

export interface PlannedTensor {
  tensor: string;
  type: WeightType;
  axis: number | null;
  axes?: number;
  symmetric: boolean;
  reduce_range?: boolean;
  transposed?: boolean;
  across?: boolean;
  block_size?: number;
  bytes: number;
  rank: number;
}

/** A value between nodes that static nodes read or write in integers. */
export interface PlannedActivation {
  tensor: string;
  type: ActivationType;
  symmetric?: boolean;
  /** Has the scale and zero point of this value; nothing below then. */
  same_as?: string;
  method?: Method;
  percentile?: number;
  /** The range; absent before calibration. */
  low?: number;
  high?: number;
}

/** The channels of a value divided by factors, and the weights of its products multiplied by them. */
export interface Smoothing {
  value: string;
  products: string[];
  factors: number[];
}

/** Added to what a product gives, channel by channel. */
export interface BiasCorrection {
  node: string;
  values: number[];
}

export interface KeptTensor {
  tensor: string;
  bytes: number;
  why: string;
}

/** What becomes of each node and stored tensor, and why. */
export interface Plan {
  octet_plan: number;
  mode: Mode;
  target: Target;
  /** Names are those of the prepared model. */
  prepared: boolean;
  nodes: PlannedNode[];
  tensors: PlannedTensor[];
  /** Of static nodes, where there are any. */
  format?: Format;
  activations?: PlannedActivation[];
  /** What was done to the prepared model before; names above are those of what came of it. */
  equalized?: boolean;
  smoothed?: Smoothing[];
  corrections?: BiasCorrection[];
  kept: KeptTensor[];
  notes: string[];
}

export interface Sizes {
  input_bytes: number;
  output_bytes: number;
  /** At least in memory once it is loaded: folded weights are then there as floats too. */
  loaded_bytes: number;
  float_weight_bytes: number;
  weights_in_8_bits_bytes: number;
  stored_bytes: number;
  left_float: { name: string; bytes: number; why: string }[];
}

export interface Report {
  model: Facts;
  passes: PassReport[];
  plan: Plan;
  sizes: Sizes;
}
