// Questions about a run's layers that the core answers.
import type { TensorHistogram } from '../package';
import type { Run } from '../state/runs';

export async function weightHistogram(
  _run: Run,
  _request: { tensor: string; axis?: number; bins?: number },
  _signal: AbortSignal,
): Promise<TensorHistogram> {
  throw new Error('not there yet');
}
export async function activationHistograms(
  _run: Run,
  _request: { tensors: string[]; bins?: number },
  _signal: AbortSignal,
): Promise<TensorHistogram[]> {
  throw new Error('not there yet');
}
