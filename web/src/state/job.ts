// The one thing that is being done, how far it is, and what went wrong last.
import { signal } from '@preact/signals';
import { OctetError } from 'octet-wasm';
import type { Progress, Stage, WorkError } from 'octet-wasm';

/** Of the package, and of `octet serve` where the page came from it. */
export type Step = Stage | 'send' | 'native';

export type StepProgress = Omit<Progress, 'stage'> & { stage: Step };

export interface Job {
  started: number;
  /** What there is to do, in order. */
  stages: Step[];
  progress: StepProgress | null;
  /** When the stage that is under way began. */
  since: number;
}

export type Tell = (progress: StepProgress) => void;

export const job = signal<Job | null>(null);
export const problem = signal<WorkError | null>(null);
/** What was just done, for those who hear the page. */
export const announcement = signal('');

let current: AbortController | null = null;

function advanced(before: Job, progress: StepProgress): Job {
  const { stage } = progress;
  const same = before.progress?.stage === stage;
  const stages = before.stages.includes(stage) ? before.stages : [...before.stages, stage];
  return { ...before, stages, progress, since: same ? before.since : performance.now() };
}

/** Runs `steps` as the one thing that is done. A newer call ends an older one, whose late results are dropped. */
export async function exclusively(stages: Step[], steps: (signal: AbortSignal, tell: Tell) => Promise<void>) {
  current?.abort(new DOMException('Replaced by newer work', 'AbortError'));
  const controller = (current = new AbortController());
  const started = performance.now();
  job.value = { started, stages, progress: null, since: started };
  try {
    await steps(controller.signal, (progress) => {
      if (current === controller && job.value) job.value = advanced(job.value, progress);
    });
  } catch (error) {
    if (controller.signal.aborted) return;
    problem.value = asError(error);
    announcement.value = problem.value.message;
  } finally {
    if (current === controller) {
      current = null;
      job.value = null;
    }
  }
}

export function asError(error: unknown): WorkError {
  if (error instanceof OctetError) return error.error;
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'internal', where: '', problem: message, next: '', message, exit_status: 70 };
}

export function cancel() {
  if (!current) return;
  current.abort(new DOMException('Cancelled', 'AbortError'));
  announcement.value = 'Cancelled';
}
