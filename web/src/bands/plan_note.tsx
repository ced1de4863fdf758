// The plan that was given: what it holds, and the way to give one or to take it back.
import type { Plan } from 'octet-wasm';
import { plural } from '../format';
import { lacksRanges, planFile, planProblem, removePlan } from '../state/in_force';
import { announcement } from '../state/job';
import { takePlan } from '../state/take_plan';
import { Picker } from './picker';
import { Problem } from './problem';

const ORDER = ['static', 'dynamic', 'weights', 'keep'] as const;
const WORDS = { static: 'static', dynamic: 'dynamic', weights: 'weights only', keep: 'in float' } as const;

/** "3 nodes static, 1 node weights only (fold)": of nodes that have weights or compute in integers. */
export function holds({ nodes }: Plan): string {
  const counts = new Map<string, number>();
  for (const action of ORDER) {
    for (const node of nodes) {
      if (node.action !== action || (action === 'keep' && !node.weights?.length)) continue;
      const form = action === 'weights' && node.form ? ` (${node.form})` : '';
      const words = `${WORDS[action]}${form}`;
      counts.set(words, (counts.get(words) ?? 0) + 1);
    }
  }
  return [...counts].map(([words, count]) => `${plural(count, 'node')} ${words}`).join(', ') || 'no node changed';
}

function rangesText(plan: Plan): string {
  if (!plan.activations?.length) return 'It needs no ranges.';
  return lacksRanges(plan)
    ? 'It is not calibrated: ranges are learned from samples.'
    : 'It is calibrated: it has its ranges, and needs no samples to learn them.';
}

/** Above what it decides. */
export function PlanInForce() {
  const given = planFile.value;
  if (!given) return null;
  const { name, plan } = given;
  return (
    <section class="note plan" aria-labelledby="plan-file">
      <div class="title">
        <h3 id="plan-file">Plan: {name}</h3>
        <button
          type="button" class="quiet" aria-describedby="plan-file"
          onClick={() => {
            removePlan();
            announcement.value = 'Plan removed';
          }}
        >
          Remove
        </button>
      </div>
      <p>
        Mode {plan.mode}, for {plan.target}: {holds(plan)}. {rangesText(plan)} What it decides cannot be chosen until it is
        removed.
      </p>
    </section>
  );
}

/** A place to give one, and what was wrong with the last. */
export function PlanPicker() {
  return (
    <div class="plan-picker">
      {planProblem.value && <Problem error={planProblem.value} />}
      <p>
        <Picker
          label={planFile.value ? 'Use another plan' : 'Use a plan'} kind="quiet" describedBy="plan-help" accept=".json"
          onPick={(given) => void takePlan(given.map(({ file }) => file))}
        />
        <small id="plan-help">
          A file from “Plan as JSON” of a run or octet quantize --save-plan: the same model gives the same bytes again.
        </small>
      </p>
    </div>
  );
}
