// First the verdict, then size, latency and drift, then what can be taken, where it loses, what became of the weights.
import { useEffect, useRef } from 'preact/hooks';
import '../results.css';
import type { Choices } from '../options';
import { job } from '../state/job';
import { loaded } from '../state/model';
import { choose } from '../state/choices';
import { inForce, planFile, removePlan } from '../state/in_force';
import { begin } from '../state/auto';
import { awaited, debugLayers, exclude } from '../state/run';
import { baseline, current } from '../state/runs';
import type { Run } from '../state/runs';
import { becauseOf, setupOf, untimed, verdictSentence } from '../take/verdict_words';
import { Advice } from './advice';
import type { AdviceActions } from './advice';
import { Explained } from './explained';
import { LayersBand } from './layers_band';
import { NativeBand } from './native_band';
import { Pictures } from './pictures';
import { Take } from './take';

function Verdict({ run, actions }: { run: Run; actions: AdviceActions | null }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (awaited.value) heading.current?.focus();
  }, [run.id]);
  const measuring = job.value !== null;
  return (
    <div class="head">
      <h2 ref={heading} tabIndex={-1} class={`verdict ${(!untimed(run) && run.comparison?.verdict.judgement) || ''}`}>
        {verdictSentence(run, measuring)}
      </h2>
      <p class="because">{becauseOf(run)}</p>
      <Advice
        next={measuring && untimed(run) ? [] : (run.comparison?.verdict.next ?? [])}
        actions={actions}
        busy={measuring}
      />
    </div>
  );
}

// Another run of the same model.
const comparable = (pinned: Run, run: Run) =>
  pinned.id !== run.id && pinned.source.name === run.source.name && pinned.source.bytes === run.source.bytes;

// Latency at one thread, and at all where the page may have more.
const threadCounts = () => (crossOriginIsolated && navigator.hardwareConcurrency > 1 ? 2 : 1);

// Advice goes on from what is in force; a plan that decided it has to give way.
function follow(change: Partial<Choices>) {
  const { mode, target } = inForce.value;
  if (!planFile.value) return choose(change);
  removePlan();
  choose({ mode, target });
  choose(change);
}

const excludeAll = (nodes: string[]) => nodes.forEach((node) => void exclude(node));

export function ResultBand() {
  const run = current.value;
  if (!run) return null;
  const pinned = baseline.value && comparable(baseline.value, run) ? baseline.value : null;
  // A run can be older than the model that is open.
  const { source } = run;
  const open = loaded.value?.name === source.name;
  const findLayers = () => void debugLayers(run);
  const ask = open
    ? { debug: findLayers, exclude: planFile.value ? null : excludeAll }
    : null;
  const actions = open ? { choose: follow, findLayers, again: () => void begin() } : null;
  return (
    <section class="band result" aria-label="Result">
      <Verdict run={run} actions={actions} />
      <Pictures run={run} pinned={pinned} threads={threadCounts()} measuring={job.value !== null} />
      <p class="setup">{run.comparison && !(untimed(run) && job.value !== null) ? setupOf(run.comparison) : ''}</p>
      {run.calibrated && <p class="setup">Ranges from {run.calibrated.description}.</p>}
      <Take run={run} pinned={pinned} />
      <NativeBand run={run} pinned={pinned} />
      <LayersBand run={run} ask={ask} busy={job.value !== null} />
      <Explained report={run.report} />
    </section>
  );
}
