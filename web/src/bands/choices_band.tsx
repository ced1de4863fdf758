// What to do with it. Every option shows its default and one sentence of help.
import { CHANNELS, fitsMode, MODES, PREPARATION, TARGETS, WEIGHT_TYPES } from '../options';
import { choices, choose } from '../state/choices';
import { job } from '../state/job';
import { inspected } from '../state/model';
import { quantize, stale } from '../state/run';

interface SelectProps<T extends string> {
  id: string;
  label: string;
  value: T;
  entries: readonly { value: T; label: string; help: string; disabled?: boolean }[];
  onChoose(value: T): void;
}

function Select<T extends string>({ id, label, value, entries, onChoose }: SelectProps<T>) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id} value={value} aria-describedby={`${id}-help`}
        onChange={({ currentTarget }) => onChoose(currentTarget.value as T)}
      >
        {entries.map((entry) => (
          <option key={entry.value} value={entry.value} disabled={entry.disabled ?? false}>{entry.label}</option>
        ))}
      </select>
      <small id={`${id}-help`}>{entries.find((entry) => entry.value === value)!.help}</small>
    </div>
  );
}

export function ChoicesBand() {
  if (!inspected.value) return null;
  const { mode, target, weightType, channels, preparation } = choices.value;
  const types = WEIGHT_TYPES.map((type) => ({ ...type, disabled: !fitsMode(type.value, mode) }));
  const type = fitsMode(weightType, mode) ? weightType : 'qint8';
  return (
    <section class="band" aria-labelledby="choices">
      <h2 id="choices" class="visually-hidden">Choices</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void quantize();
        }}
      >
        <fieldset class="segmented">
          <legend class="visually-hidden">Mode</legend>
          {MODES.map(({ value, label }) => (
            <label key={value} class={value === mode ? 'chosen' : ''}>
              <input
                type="radio" name="mode" value={value} checked={value === mode}
                onChange={() => choose({ mode: value })}
              />
              {label}
            </label>
          ))}
        </fieldset>
        <p class="help">{MODES.find(({ value }) => value === mode)!.help}</p>
        <div class="fields">
          <Select
            id="target" label="It will run in" value={target} entries={TARGETS}
            onChoose={(value) => choose({ target: value })}
          />
          <Select
            id="type" label="Weights in" value={type} entries={types}
            onChoose={(value) => choose({ weightType: value })}
          />
          <Select
            id="channels" label="Scales" value={channels} entries={CHANNELS}
            onChoose={(value) => choose({ channels: value })}
          />
          <Select
            id="preparation" label="Prepare" value={preparation} entries={PREPARATION}
            onChoose={(value) => choose({ preparation: value })}
          />
        </div>
        <button type="submit" class="primary" disabled={job.value !== null && !stale.value}>Quantize</button>
      </form>
    </section>
  );
}
