// What is chosen. It stands in the address, so that a link or a bookmark brings it back.
import { signal } from '@preact/signals';
import { PRESET } from '../option_fields';
import { withoutToken } from '../native/token';
import { fromHash, toHash } from '../option_url';
import { DEFAULTS } from '../options';
import type { Choices } from '../options';

const asked = fromHash(withoutToken(location.hash));

export const choices = signal<Choices>(asked.choices);
/** Parts of the address that mean nothing here. */
export const ignored = signal<string[]>(asked.ignored);

export function choose(change: Partial<Choices>) {
  const preset = change.target && change.target !== choices.value.target ? PRESET : {};
  choices.value = { ...choices.value, ...preset, ...change };
}

/** All but the mode as it was at first. */
export function resetChoices() {
  choices.value = { ...DEFAULTS, mode: choices.value.mode };
}

choices.subscribe((now) => {
  const hash = toHash(now);
  if (hash !== location.hash) history.replaceState(history.state, '', hash || location.pathname + location.search);
});

addEventListener('hashchange', () => {
  const now = fromHash(withoutToken(location.hash));
  ignored.value = now.ignored;
  choices.value = now.choices;
});
