// What to do with the model: the mode, what matters for it, and the rest under "More".
import { plural } from '../format';
import { fieldsOf, MODES } from '../option_fields';
import { DEFAULTS } from '../options';
import type { Choices } from '../options';
import { choose, ignored, resetChoices } from '../state/choices';
import { inForce, planFile } from '../state/in_force';
import { job } from '../state/job';
import { inspected } from '../state/model';
import { planError } from '../state/plan';
import { begin } from '../state/auto';
import { lacksSamples, stale } from '../state/run';
import { Fields } from './fields';
import { FitNote } from './fit_note';
import { PlanInForce, PlanPicker } from './plan_note';
import { Problem } from './problem';
import { SamplesBand, useMadeUp } from './samples_band';

function Modes({ mode }: { mode: Choices['mode'] }) {
  const given = planFile.value;
  return (
    <>
      <fieldset class="segmented" disabled={given !== null}>
        <legend class="visually-hidden">Mode</legend>
        {MODES.map(({ value, label }) => (
          <label key={value} class={value === mode ? 'chosen' : ''}>
            <input
              type="radio" name="mode" value={value} checked={value === mode} aria-describedby="mode-help"
              onChange={() => choose({ mode: value as Choices['mode'] })}
            />
            {label}
          </label>
        ))}
      </fieldset>
      <p class="help" id="mode-help">
        {given ? `Decided by the plan. Remove ${given.name} to choose a mode.` : MODES.find(({ value }) => value === mode)!.help}
      </p>
    </>
  );
}

export function Ignored() {
  if (ignored.value.length === 0) return null;
  const [what, they] = ignored.value.length === 1 ? ['an option', 'it is'] : ['options', 'they are'];
  return (
    <p class="note">
      The address of this page names {what} that it does not know: <code>{ignored.value.join(', ')}</code>; {they} ignored.
    </p>
  );
}

function More() {
  const now = inForce.value;
  const fields = fieldsOf('more', now);
  const changed = fields.filter(({ key }) => JSON.stringify(now[key]) !== JSON.stringify(DEFAULTS[key])).length;
  return (
    <details class="rest options">
      <summary>More{changed > 0 && `: ${plural(changed, 'option')} changed`}</summary>
      <Fields fields={fields} />
      <button type="button" class="quiet" onClick={resetChoices}>All options back to their defaults</button>
    </details>
  );
}

// The button says what is missing, and leads there.
function Go() {
  const automatic = inForce.value.mode === 'auto', busy = job.value !== null;
  if (!lacksSamples.value) {
    return (
      <button type="submit" class="primary" disabled={busy && (automatic || !stale.value)}>
        {automatic ? 'Search' : 'Quantize'}
      </button>
    );
  }
  const lead = () => document.querySelector<HTMLElement>('.samples .actions button')?.focus();
  return (
    <div class="go">
      <button type="button" class="primary" onClick={lead}>Add samples to {automatic ? 'search' : 'quantize'}</button>
      <p>
        {automatic ? 'The search learns and measures on samples.' : 'Ranges are learned from samples.'} Without any,{' '}
        <button type="button" class="quiet inline" onClick={() => useMadeUp('calibration')}>use made-up inputs</button> to
        try it.
      </p>
    </div>
  );
}

export function ChoicesBand() {
  if (!inspected.value) return null;
  const now = inForce.value;
  return (
    <section class="band" aria-labelledby="choices">
      <h2 id="choices" class="visually-hidden">Choices</h2>
      <Ignored />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void begin();
        }}
      >
        <PlanInForce />
        <Modes mode={now.mode} />
        <Fields fields={fieldsOf('first', now)} />
        <SamplesBand />
        <More />
        <PlanPicker />
        <FitNote />
        {planError.value && <Problem error={planError.value} />}
        <Go />
      </form>
    </section>
  );
}
