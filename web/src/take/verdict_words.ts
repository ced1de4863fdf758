// The verdict as the page says it: where it was measured, and why a model that is smaller is no faster.
import type { PlannedNode } from 'octet-wasm';
import { msText, plural } from '../format';
import type { Comparison } from '../package';
import type { Run } from '../state/runs';
import { oneThread, smaller, smallerText } from './run_words';

const PRODUCTS = [
  'Conv',
  'MatMul',
  'Gemm',
  'Attention',
  'LSTM',
  'GRU',
  'ConvTranspose',
  'FusedConv',
  'FusedGemm',
  'FusedMatMul',
];
const SHORT_RUN_MS = 0.5; // a run shorter than this is mostly the runtime's own work around its operators
const FAST = 1.05;

// The core's sentence serves command line and page; ways on that are flags there are places here.
export function sentenceOf({ verdict }: Comparison): string {
  return verdict.sentence
    .replace(/ (faster|slower|before) here/, ' $1 in this browser')
    .replace(' Check it on real samples.', ' Drop real samples to be sure.')
    .replace(' A quiet machine tells.', ' Run it again when the machine is quiet.');
}

export function verdictSentence(run: Run, measuring: boolean): string {
  if (run.comparison) return sentenceOf(run.comparison);
  const size = smallerText(smaller(run));
  const start = size.charAt(0).toUpperCase() + size.slice(1);
  if (run.notVerified) return `${start}. Not verified: ${run.notVerified.replace(/\.$/, '')}.`;
  return measuring ? `${start}. Speed and drift are being measured.` : `${start}. Not verified.`;
}

const isProduct = ({ op, weights }: PlannedNode) => PRODUCTS.includes(op) || (weights?.length ?? 0) > 0;

/** What keeps it from being faster, in sentences; empty where it is, or where nothing was measured. */
export function becauseOf(run: Run): string {
  const timed = oneThread(run);
  if (!timed || timed.speedup.low > FAST) return '';
  const { mode, nodes } = run.report.plan;
  const products = nodes.filter(isProduct);
  const integer = products.filter(({ action }) => action === 'static' || action === 'dynamic');
  const floating = products.length - integer.length;
  if (mode === 'weights') {
    return timed.speedup.high < 1 / FAST
      ? 'Arithmetic stays in float in this mode, and restoring the weights takes time.'
      : 'Arithmetic stays in float in this mode: it saves size, not time.';
  }
  const reasons: string[] = [];
  if (mode === 'dynamic' && integer.some(({ op }) => op === 'Conv')) {
    return 'Convolutions in dynamic mode have no fast integer kernel. Try Static.';
  }
  if (floating > 0) reasons.push(`${floating} of ${plural(products.length, 'product')} stay in float`);
  if (timed.baseline.median_ms < SHORT_RUN_MS) {
    reasons.push(
      `a float run takes only ${msText(timed.baseline.median_ms)}, and the work around operators does not shrink`,
    );
  }
  if (reasons.length === 0) reasons.push('what is no product, or has no faster integer kernel, takes the time');
  return `${reasons.join('; ').replace(/^./, (letter) => letter.toUpperCase())}.`;
}

/** "Chromium 141" out of a user agent. */
export function browserName(agent: string): string {
  const found =
    /(Edg|OPR|Firefox|Chrome|Chromium)\/(\d+)/.exec(agent) ?? /(Version)\/([\d]+)[\d.]* .*Safari/.exec(agent);
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera', Version: 'Safari' };
  return found ? `${names[found[1]!] ?? found[1]!} ${found[2]!}` : agent.slice(0, 60);
}

/** What was measured with, on what: the small print under the pictures. */
export function setupOf({ samples, environment, load_ms }: Comparison): string {
  const { runtime, agent, cores, isolated, threads_available, clock_ms } = environment;
  const threads =
    threads_available > 1
      ? `up to ${threads_available} threads`
      : isolated
        ? 'one thread'
        : 'one thread, since the page is not cross-origin isolated';
  const parts = [
    `Measured with ${runtime}, ${browserName(agent)}, ${plural(cores, 'core')}, ${threads}`,
    `on ${samples.description}`,
    ...(load_ms.reference > 0
      ? [`FP32 loads in ${msText(load_ms.reference)}, this in ${msText(load_ms.candidate)}`]
      : []),
    ...(clock_ms > 0 ? [`the clock ticks every ${msText(clock_ms)}`] : []),
  ];
  const advice = samples.synthetic ? ' Drift on made-up inputs says little: drop samples to know.' : '';
  return `${parts.join('; ')}.${advice}`;
}
