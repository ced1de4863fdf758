// What is being done, how far it is, for how long, and the way to stop it; what went wrong, where it was asked for.
// Its place is kept, so that nothing jumps.
import { useEffect, useState } from 'preact/hooks';
import { percentText } from '../format';
import { cancel, job } from '../state/job';
import type { Job, Step } from '../state/job';
import { inspected, problem } from '../state/model';
import { Problem } from './problem';

const WORDS: Record<Step, string> = {
  read: 'read', prepare: 'prepare', plan: 'plan', calibrate: 'calibrate', search: 'search', write: 'write',
  runtime: 'load runtime', check: 'check', time: 'time', layers: 'compare layers',
  send: 'send to octet serve', native: 'measure natively',
};

// Stages whose steps are samples or runs, and can be counted.
const COUNTED: Step[] = ['calibrate', 'check', 'search', 'layers', 'send'];

const LEFT_AFTER_MS = 1000, LEFT_FROM = 0.05;

function useNow(): number {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 200);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function seconds(ms: number): string {
  const whole = Math.round(ms / 1000);
  if (whole < 60) return `${ms < 10_000 ? (ms / 1000).toFixed(1) : whole} s`;
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

function shareOf({ progress }: Job): number | null {
  return progress?.total ? Math.min(1, progress.done / progress.total) : null;
}

function farText({ progress }: Job, share: number | null): string {
  if (!progress) return 'starting';
  const { stage, done, total, detail } = progress;
  const one = stage === 'search' && total !== null && total <= 1;
  const far = one ? '' : !COUNTED.includes(stage) ? share !== null && percentText(share) : total ? `${done} of ${total}` : done;
  return [WORDS[stage], far, detail].filter(Boolean).join(' ');
}

function Stages({ stages, progress }: Job) {
  const at = progress ? stages.indexOf(progress.stage) : -1;
  return (
    <ol class="stages">
      {stages.map((stage, i) => (
        <li key={stage} class={i < at ? 'done' : i === at ? 'now' : ''} aria-current={i === at ? 'step' : undefined}>
          {WORDS[stage]}{i < at && <span class="visually-hidden"> done</span>}
        </li>
      ))}
    </ol>
  );
}

function Running({ now: running }: { now: Job }) {
  const now = useNow();
  const share = shareOf(running);
  const inStage = now - running.since;
  // The server's steps are several, and each begins anew for every number of threads.
  const foreseen = running.progress?.stage !== 'native';
  const left = foreseen && share !== null && share >= LEFT_FROM && share < 1 && inStage > LEFT_AFTER_MS
    ? inStage * (1 - share) / share : null;
  return (
    <div class="work">
      <span class="visually-hidden" role="status">{running.progress ? WORDS[running.progress.stage] : ''}</span>
      <Stages {...running} />
      <progress aria-label={farText(running, null)} max={1} value={share ?? undefined} />
      <p>
        <span>{farText(running, share)}</span>
        <span class="figure">
          {seconds(Math.max(0, now - running.started))}{left !== null && `, about ${seconds(left)} left of this step`}
        </span>
      </p>
      <button type="button" class="quiet" onClick={cancel}>Cancel</button>
    </div>
  );
}

export function WorkBand() {
  if (!job.value && !inspected.value) return null;
  return (
    <section class="band slot" aria-label="Work">
      {job.value ? <Running now={job.value} /> : problem.value && <Problem error={problem.value} />}
    </section>
  );
}
