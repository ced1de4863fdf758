// Takes a plan out of a file: one that a run gave, or octet quantize --save-plan wrote.
import { failure } from 'octet-wasm';
import type { Plan, WorkError } from 'octet-wasm';
import { plural } from '../format';
import { octet } from './client';
import { planFile, planProblem } from './in_force';
import { announcement, asError, exclusively, problem } from './job';
import { inspected, loaded } from './model';

const MOST_BYTES = 256e6; // far above any plan
const ONE_THAT_FITS = 'give one that a run of this model saved as “Plan as JSON”, or octet quantize --save-plan';

const parsed = async (file: File): Promise<unknown> => {
  if (file.size > MOST_BYTES) throw failure('malformed', 'is too large for a plan', ONE_THAT_FITS, file.name);
  try {
    return JSON.parse(await file.text());
  } catch {
    throw failure('malformed', 'is no JSON', ONE_THAT_FITS, file.name);
  }
};

const isPlan = (document: unknown): document is Plan =>
  typeof document === 'object' && document !== null && 'octet_plan' in document;

/** Whether it says of itself that it is one. */
export async function saysPlan(file: File): Promise<boolean> {
  if (/\.plan\.json$/i.test(file.name)) return true;
  return /\.json$/i.test(file.name) && parsed(file).then(isPlan, () => false);
}

async function read(file: File): Promise<Plan> {
  const document = await parsed(file);
  if (!isPlan(document)) throw failure('malformed', 'is JSON, but no plan', ONE_THAT_FITS, file.name);
  return document;
}

/** What the core says of a plan, with the file that it is in. */
export function ofFile({ code, where, problem, next }: WorkError, name: string): WorkError {
  const place = where.replace(/^(option )?plan(: )?/, '');
  const again = next === '' || /--|plan the model/.test(next) ? ONE_THAT_FITS : next;
  return failure(code, place === '' || place === name ? problem : `${place}: ${problem}`, again, name).error;
}

function refuse(error: WorkError) {
  planProblem.value = error;
  announcement.value = error.message;
}

/** Uses the plan from now on, if it fits the model that is open. */
export async function takePlan(files: File[]) {
  const [file, ...more] = files;
  if (!file) return;
  const model = loaded.value;
  if (!model || !inspected.value) {
    const next = 'drop the model, then the plan, or both at once';
    problem.value = failure('usage', 'a plan needs its model', next, file.name).error;
    return;
  }
  planProblem.value = null;
  if (more.length > 0) {
    return refuse(failure('usage', `${plural(files.length, 'file')} at once`, 'give one plan', file.name).error);
  }
  await exclusively(['plan'], async (signal, onProgress) => {
    try {
      const given = await read(file);
      // As the core reads it: what is left out has its default there.
      const { plan } = (await octet.inspect(model, { plan: given }, { signal, onProgress })).report;
      planFile.value = { name: file.name, plan };
      announcement.value = `${file.name} decides what becomes of the model`;
    } catch (error) {
      if (signal.aborted) throw error;
      refuse(ofFile(asError(error), file.name));
    }
  });
}
