// What is being done, for how long, and the way to stop it. Its place is kept, so that nothing jumps.
import type { Stage } from 'octet-wasm';
import { useEffect, useState } from 'preact/hooks';
import { percentText } from '../format';
import { cancel, job } from '../state/job';
import { inspected } from '../state/model';

const WORDS: Record<Stage, string> = {
  read: 'Reading', prepare: 'Preparing', plan: 'Reading weights', calibrate: 'Calibrating', search: 'Searching',
  write: 'Writing', runtime: 'Loading the runtime', check: 'Checking outputs', time: 'Timing', layers: 'Comparing layers',
};

function useSeconds(since: number): number {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 200);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, now - since) / 1000;
}

function Running({ started }: { started: number }) {
  const seconds = useSeconds(started);
  const progress = job.value?.progress;
  const share = progress?.total ? Math.min(1, progress.done / progress.total) : null;
  const words = progress ? WORDS[progress.stage] : 'Starting';
  return (
    <div class="work">
      <progress aria-label={words} max={1} value={share ?? undefined} />
      <p>
        <span>{words}{share !== null && ` ${percentText(share)}`}</span>
        <span class="figure">{seconds.toFixed(1)} s</span>
      </p>
      <button type="button" class="quiet" onClick={cancel}>Cancel</button>
    </div>
  );
}

export function WorkBand() {
  if (!job.value && !inspected.value) return null;
  return <section class="band slot" aria-label="Work">{job.value && <Running started={job.value.started} />}</section>;
}
