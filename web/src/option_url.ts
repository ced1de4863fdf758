// Choices as the part of the address behind "#", which browsers do not send: names of nodes stay on this computer.
import { DEFAULTS } from './options';
import type { Choices } from './options';
import { FIELDS } from './option_fields';
import type { Field } from './option_fields';

type Key = keyof Choices;

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Only what differs from the defaults; empty where nothing does. */
export function toHash(choices: Choices): string {
  const words = (Object.keys(DEFAULTS) as Key[])
    .filter((key) => !same(choices[key], DEFAULTS[key]))
    .flatMap((key) => {
      const value = choices[key];
      return (Array.isArray(value) ? value : [value]).map((part) => [key, String(part)]);
    });
  return words.length > 0 ? `#${new URLSearchParams(words)}` : '';
}

// The values of one option, or undefined where they are none that it has.
function parse(field: Field, values: string[]): Choices[Key] | undefined {
  const text = values.at(-1)!;
  switch (field.kind) {
    case 'list': {
      const entries = values.map((value) => value.trim()).filter((value) => value !== '');
      return entries.every((entry) => field.pattern?.test(entry) ?? true) ? entries : undefined;
    }
    case 'switch':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'select':
      return field.entries.some(({ value }) => value === text) ? (text as Choices[Key]) : undefined;
    case 'number': {
      const number = Number(text);
      return text !== '' && number >= field.min && number <= field.max ? number : undefined;
    }
    case 'text':
      return field.pattern.test(text) ? text : undefined;
  }
}

/** Choices of an address; `ignored` are the parts of it that mean nothing here. */
export function fromHash(hash: string): { choices: Choices; ignored: string[] } {
  const words = new URLSearchParams(hash.replace(/^#/, ''));
  const choices = { ...DEFAULTS }, ignored: string[] = [];
  for (const key of new Set(words.keys())) {
    const values = words.getAll(key);
    const field = FIELDS.find((one) => one.key === key);
    const value = field && parse(field, values);
    if (value === undefined) ignored.push(`${key}=${values.join(',')}`);
    else Object.assign(choices, { [key]: value });
  }
  return { choices, ignored };
}
