// What a run was made with and what came of it, in words and figures that several places show.
import type { Options } from 'octet-wasm';
import { bytesText, dbText, timesText } from '../format';
import { nativeSpeedup } from '../native/figures';
import { searched, syntheticOf, thresholdsOf } from '../options';
import { outputBytes } from '../state/runs';
import type { Run } from '../state/runs';
import { commandLine, syntheticFlags, thresholdFlags } from './command_line';
import type { Flag } from './command_line';
import { planName, rangesName } from './names';

export const MODE_WORDS: Record<string, string> = { weights: 'Weights only', dynamic: 'Dynamic', static: 'Static' };

const planned = ({ report: { plan } }: Run) => MODE_WORDS[plan.mode] ?? plan.mode;

export const modeOf = (run: Run) => (run.choices.mode === 'auto' ? 'Automatic' : planned(run));

// What a search came to: models that stay float are planned in some mode too.
function cameTo(run: Run): string {
  const { nodes } = run.report.plan;
  return nodes.every(({ action }) => action === 'keep') ? 'in float' : planned(run).toLowerCase();
}

// Whether its plan says more than its options.
const needsPlan = ({ options, choices }: Run): boolean => choices.mode === 'auto' || searched(options);

/** Files that the command reads besides the model. */
export function readBy(run: Run): { plan?: string; ranges?: string } {
  if (run.planFile === undefined && needsPlan(run)) return { plan: planName(run) };
  return {
    ...(run.planFile !== undefined && { plan: run.planFile }),
    ...(run.ranges !== null && { ranges: rangesName(run) }),
  };
}

// How the result is judged. The floor is held already: the plan does.
function checkingFlags(run: Run): Flag[] {
  const { min_sqnr: _, ...limits } = thresholdsOf(run.choices);
  const made = run.comparison?.samples.synthetic ? syntheticFlags(syntheticOf(run.choices)) : [];
  return [...made, ...thresholdFlags(limits)];
}

export const commandOf = (run: Run) =>
  commandLine(
    { input: run.source.name, output: run.output.name, ...readBy(run) },
    { ...run.options, mode: run.report.plan.mode },
    checkingFlags(run),
  );

const NAMES: Partial<Record<keyof Options, string>> = {
  mode: 'mode',
  target: 'target',
  weight_type: 'weights',
  per_channel: 'scales',
  reduce_range: '7 bits',
  format: 'format',
  activation_type: 'activations',
  symmetric_activations: 'symmetric activations',
  method: 'range method',
  percentile: 'percentile',
  round_outputs: 'round outputs',
  block_size: 'block size',
  nodes_to_quantize: 'only the nodes',
  nodes_to_exclude: 'in float',
  op_types: 'operator types',
  prepare: 'prepare',
  external_data: 'weights in a file of their own',
  smooth_quant: 'SmoothQuant',
  equalize: 'equalize',
  bias_correction: 'bias correction',
  min_sqnr: 'at least',
};

const asWords = (name: keyof Options, value: unknown): string => {
  if (name === 'per_channel') return value ? 'per channel' : 'per tensor';
  if (name === 'min_sqnr') return `${String(value)} dB`;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.join(', ') : String(value);
};

/** Options that were set, by the names people read, in a fixed order. */
export function optionRows(options: Options): [name: string, value: string][] {
  return (Object.keys(NAMES) as (keyof Options)[]).flatMap((name) => {
    const value = options[name];
    return value === undefined || (Array.isArray(value) && value.length === 0)
      ? []
      : [[NAMES[name]!, asWords(name, value)] as [string, string]];
  });
}

const USUAL: Options = {
  target: 'wasm',
  weight_type: 'qint8',
  prepare: true,
  format: 'qdq',
  activation_type: 'quint8',
  method: 'best',
};

function briefly(name: keyof Options, value: unknown): string {
  if (name === 'per_channel') return asWords(name, value);
  if (name === 'prepare') return 'not prepared';
  if (name === 'target') return `for ${String(value)}`;
  return value === true ? NAMES[name]! : `${NAMES[name]!} ${asWords(name, value)}`;
}

/** What makes a run what it is, short, for its row: the options that are not the usual ones. */
export function keyOptions(run: Run): string {
  const { options: given, calibrated, choices } = run;
  const options: Options = given;
  const unusual = (Object.keys(NAMES) as (keyof Options)[]).filter((name) => {
    const value = options[name];
    return (
      name !== 'mode' &&
      value !== undefined &&
      (value !== false || name === 'per_channel' || name === 'prepare') &&
      value !== USUAL[name] &&
      !(Array.isArray(value) && value.length === 0)
    );
  });
  const { planFile } = run;
  const words = [
    ...(choices.mode === 'auto' ? [cameTo(run)] : []),
    ...(planFile !== undefined ? [`by ${planFile}`] : []),
    ...unusual.map((name) => briefly(name, options[name])),
  ];
  if (calibrated) words.push(`${calibrated.samples} samples`);
  return words.join(', ');
}

export const smaller = ({ report: { sizes } }: Run) => sizes.input_bytes / sizes.output_bytes;

/** One thread decides: what more threads give depends on who else needs them. */
export const oneThread = ({ comparison }: Run) =>
  comparison?.latency_by_threads.find(({ threads }) => threads === 1) ?? null;

export const sizeText = (run: Run) => `${bytesText(outputBytes(run))}, ${smallerText(smaller(run))}`;

export function smallerText(ratio: number): string {
  return ratio >= 1 ? `${timesText(ratio)} smaller` : `${timesText(1 / ratio)} larger`;
}

export function speedText(run: Run): string {
  const timed = oneThread(run);
  return timed ? timesText(timed.speedup.ratio) : '–';
}

/** Against FP32 on the command line, with one thread. */
export function nativeSpeedText(run: Run): string {
  const speedup = nativeSpeedup(run);
  return speedup ? timesText(speedup.ratio) : '–';
}

export function driftText({ comparison }: Run): string {
  return comparison ? dbText(comparison.worst_sqnr_db) : '–';
}

const WORDS = { ship: 'Ship it', dont: 'Don’t', cannot_tell: 'Not sure' } as const;

export function verdictWord({ comparison, notVerified }: Run): string {
  return comparison ? WORDS[comparison.verdict.judgement] : notVerified ? 'Not verified' : '…';
}
