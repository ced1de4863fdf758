// The shapes that the page works with.
export type { Comparison, LayerComparison, ModelFiles, TensorHistogram, Timed, ValueDrift } from 'octet-wasm';
