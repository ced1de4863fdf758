// The verdict as the page says it, and what it was measured with.
import { dbText, msText, plural } from '../format';
import type { Comparison } from '../package';
import type { Run } from '../state/runs';
import { smaller, smallerText } from './run_words';

// The core's sentence serves command line and page; ways on that are flags there are places here.
export function sentenceOf({ verdict }: Comparison): string {
  return verdict.sentence
    .replace(/ (faster|slower|before) here/, ' $1 in this browser')
    .replace(' Check it on real samples.', ' Drop real samples to be sure.')
    .replace(' A quiet machine tells.', ' Run it again when the machine is quiet.');
}

/** A verdict on native figures, which may be of any machine. */
export const nativeSentence = ({ sentence }: Pick<Comparison['verdict'], 'sentence'>): string =>
  sentence.replace(/ (faster|slower|before) here/, ' $1');

/** Whether outputs were compared, and nothing timed, or not yet. */
export const untimed = ({ comparison }: Run) => comparison !== null && comparison.latency_by_threads.length === 0;

export function verdictSentence(run: Run, measuring: boolean): string {
  if (run.comparison && !(measuring && untimed(run))) return sentenceOf(run.comparison);
  const size = smallerText(smaller(run));
  const start = size.charAt(0).toUpperCase() + size.slice(1);
  if (run.notVerified) return `${start}. Not verified: ${run.notVerified.replace(/\.$/, '')}.`;
  if (run.comparison) return `${start}, ${dbText(run.comparison.worst_sqnr_db)}. Speed is being measured.`;
  return measuring ? `${start}. Speed and drift are being measured.` : `${start}. Not verified.`;
}

/** Why the figure that decided is as it is; empty where there is nothing to explain, or nothing was measured. */
export const becauseOf = ({ comparison }: Run): string => comparison?.verdict.why ?? '';

/** "Chromium 141" out of a user agent. */
export function browserName(agent: string): string {
  const found =
    /(Edg|OPR|Firefox|Chrome|Chromium)\/(\d+)/.exec(agent) ?? /(Version)\/([\d]+)[\d.]* .*Safari/.exec(agent);
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera', Version: 'Safari' };
  return found ? `${names[found[1]!] ?? found[1]!} ${found[2]!}` : agent.slice(0, 60);
}

const tickText = (ms: number) => (ms < 0.1 ? `${Number((1000 * ms).toPrecision(2))} µs` : msText(ms));

/** What was measured with, on what: the small print under the pictures. */
export function setupOf({ samples, environment, load_ms }: Comparison): string {
  const { runtime, agent, cores, threads_note, threads_available, clock_ms } = environment;
  const threads = threads_available > 1 ? `up to ${threads_available} threads` : (threads_note ?? 'one thread');
  const parts = [
    `Measured with ${runtime}, ${browserName(agent)}, ${plural(cores, 'core')}, ${threads}`,
    `on ${samples.description}`,
    ...(load_ms.reference > 0
      ? [`FP32 loads in ${msText(load_ms.reference)}, this in ${msText(load_ms.candidate)}`]
      : []),
    ...(clock_ms > 0 ? [`the clock ticks every ${tickText(clock_ms)}`] : []),
  ];
  const advice = samples.synthetic ? ' Drift on made-up inputs says little: drop samples to know.' : '';
  return `${parts.join('; ')}.${advice}`;
}
