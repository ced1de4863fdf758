// What was chosen.
import { signal } from '@preact/signals';
import { DEFAULTS } from '../options';
import type { Choices } from '../options';

export const choices = signal<Choices>(DEFAULTS);

export function choose(change: Partial<Choices>) {
  choices.value = { ...choices.value, ...change };
}
