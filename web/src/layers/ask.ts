// Questions about a run's layers that the core answers: how weights and values are spread.
import type { TensorHistogram } from '../package';
import { octet } from '../state/client';
import { loaded } from '../state/model';
import type { Run } from '../state/runs';

/** Of a tensor by its name in the plan, which is of the model as it was prepared for it. */
export async function weightHistogram(
  run: Run,
  request: { tensor: string; axis?: number; bins?: number },
  signal: AbortSignal,
): Promise<TensorHistogram> {
  const model = loaded.value;
  if (model?.name !== run.source.name) throw new Error(`Open ${run.source.name} again to see this.`);
  return octet.weightHistogram(model, { ...request, options: run.options }, { signal });
}

export async function activationHistograms(
  run: Run,
  request: { tensors: string[]; bins?: number },
  signal: AbortSignal,
): Promise<TensorHistogram[]> {
  return run.ranges === null ? [] : octet.activationHistograms(run.ranges, request, { signal });
}
