// One option each: its label, what it is by default, the control, and a sentence of help.
import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type { Field, ListField, NumberField, SelectField, SwitchField, TextField } from '../option_fields';
import { decidedByPlan, DEFAULTS } from '../options';
import type { Choices } from '../options';
import { choose } from '../state/choices';
import { inForce, planFile } from '../state/in_force';

const idOf = ({ key, group }: Field) => `${group.replace(' ', '-')}-${key}`;

const set = (key: keyof Choices, value: unknown) => choose({ [key]: value } as Partial<Choices>);

function defaultText(field: Field): string {
  const value = DEFAULTS[field.key];
  switch (field.kind) {
    case 'select':
      return field.entries.find((entry) => entry.value === value)!.label;
    case 'switch':
      return value ? 'on' : 'off';
    case 'number':
      return value === field.none ? 'none' : String(value);
    default:
      return field.placeholder;
  }
}

// What the option is when nobody touches it: either it is that, or this leads back.
function Default({ field, value }: { field: Field; value: unknown }) {
  const usual = DEFAULTS[field.key];
  if (JSON.stringify(value) === JSON.stringify(usual)) return <span class="default">default</span>;
  const words = `back to ${defaultText(field)}`;
  return (
    <button
      type="button" class="default quiet" aria-describedby={`${idOf(field)}-label`} onClick={() => set(field.key, usual)}
    >
      {words}
    </button>
  );
}

function Framed({ field, value, help, children }: {
  field: Field; value: unknown; help: string; children: ComponentChildren;
}) {
  return (
    <div class="field">
      <div class="caption">
        <label id={`${idOf(field)}-label`} for={idOf(field)}>{field.label}</label>
        <Default field={field} value={value} />
      </div>
      {children}
      <small id={`${idOf(field)}-help`}>{help}</small>
    </div>
  );
}

const described = (field: Field) => ({ id: idOf(field), 'aria-describedby': `${idOf(field)}-help` });

function Select({ field, now }: { field: SelectField; now: Choices }) {
  const fits = (value: string) => field.fits?.(value, now) ?? true;
  const wanted = now[field.key] as string;
  const value = fits(wanted) ? wanted : (DEFAULTS[field.key] as string);
  return (
    <Framed field={field} value={value} help={field.entries.find((entry) => entry.value === value)!.help}>
      <select {...described(field)} value={value} onChange={({ currentTarget }) => set(field.key, currentTarget.value)}>
        {field.entries.map((entry) => (
          <option key={entry.value} value={entry.value} disabled={!fits(entry.value)}>{entry.label}</option>
        ))}
      </select>
    </Framed>
  );
}

function Switch({ field, now }: { field: SwitchField; now: Choices }) {
  const value = now[field.key] as boolean;
  return (
    <div class="field">
      <div class="caption">
        <label class="switch" id={`${idOf(field)}-label`}>
          <input
            type="checkbox" {...described(field)} checked={value}
            onChange={({ currentTarget }) => set(field.key, currentTarget.checked)}
          />
          {field.label}
        </label>
        <Default field={field} value={value} />
      </div>
      <small id={`${idOf(field)}-help`}>{field.help}</small>
    </div>
  );
}

function NumberInput({ field, now }: { field: NumberField; now: Choices }) {
  const value = now[field.key] as number;
  const { min, max, step, none, placeholder } = field;
  const commit = (input: HTMLInputElement) => {
    if (input.value === '' && none !== undefined) set(field.key, none);
    else if (input.value !== '' && input.checkValidity()) set(field.key, Number(input.value));
    else input.reportValidity();
  };
  return (
    <Framed field={field} value={value} help={field.help}>
      <input
        type="number" {...described(field)} min={min} max={max} step={step} placeholder={placeholder}
        value={value === none ? '' : value} required={none === undefined}
        onChange={({ currentTarget }) => commit(currentTarget)}
      />
    </Framed>
  );
}

function TextInput({ field, now }: { field: TextField; now: Choices }) {
  const value = now[field.key] as string;
  const commit = (input: HTMLInputElement) => {
    const text = input.value.replace(/\s/g, '');
    input.setCustomValidity(field.pattern.test(text) ? '' : field.help);
    if (input.reportValidity()) set(field.key, text);
  };
  return (
    <Framed field={field} value={value} help={field.help}>
      <input
        type="text" {...described(field)} value={value} placeholder={field.placeholder} spellcheck={false}
        autocomplete="off" onInput={({ currentTarget }) => currentTarget.setCustomValidity('')}
        onChange={({ currentTarget }) => commit(currentTarget)}
      />
    </Framed>
  );
}

function List({ field, now }: { field: ListField; now: Choices }) {
  const [draft, setDraft] = useState('');
  const value = now[field.key] as string[];
  const add = (input: HTMLInputElement) => {
    const names = draft.split(',').map((name) => name.trim()).filter((name) => name !== '' && !value.includes(name));
    input.setCustomValidity(names.every((name) => field.pattern?.test(name) ?? true) ? '' : field.help);
    if (!input.reportValidity()) return;
    setDraft('');
    if (names.length > 0) set(field.key, [...value, ...names]);
  };
  return (
    <Framed field={field} value={value} help={field.help}>
      <input
        type="text" {...described(field)} value={draft} placeholder={value.length > 0 ? 'another' : field.placeholder}
        spellcheck={false} autocomplete="off" onBlur={({ currentTarget }) => add(currentTarget)}
        onInput={({ currentTarget }) => {
          currentTarget.setCustomValidity('');
          setDraft(currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || draft === '') return;
          event.preventDefault(); // adds a name; an empty field's Enter quantizes
          add(event.currentTarget);
        }}
      />
      {value.length > 0 && (
        <ul class="chips">
          {value.map((name) => (
            <li key={name}>
              <button
                type="button" aria-label={`${field.label}: remove ${name}`}
                onClick={() => set(field.key, value.filter((other) => other !== name))}
              >
                {name} <span aria-hidden="true">×</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Framed>
  );
}

// What it is there may differ from node to node.
function Decided({ field, plan }: { field: Field; plan: string }) {
  return (
    <div class="field">
      <div class="caption"><label id={`${idOf(field)}-label`} for={idOf(field)}>{field.label}</label></div>
      <input type="text" {...described(field)} disabled value="by the plan" />
      <small id={`${idOf(field)}-help`}>Decided by the plan. Remove {plan} to choose.</small>
    </div>
  );
}

function Control({ field, now }: { field: Field; now: Choices }) {
  switch (field.kind) {
    case 'select':
      return <Select field={field} now={now} />;
    case 'switch':
      return <Switch field={field} now={now} />;
    case 'number':
      return <NumberInput field={field} now={now} />;
    case 'text':
      return <TextInput field={field} now={now} />;
    case 'list':
      return <List field={field} now={now} />;
  }
}

export function Fields({ fields }: { fields: Field[] }) {
  const now = inForce.value, given = planFile.value;
  return (
    <div class="fields">
      {fields.map((field) =>
        given && decidedByPlan(field.key)
          ? <Decided key={idOf(field)} field={field} plan={given.name} />
          : <Control key={idOf(field)} field={field} now={now} />)}
    </div>
  );
}
