// All that is known of a run, as JSON: the quantizer's report, the options, what was measured, where.
import type { Run } from '../state/runs';
import { commandOf } from './run_words';

export function reportJson(run: Run): string {
  const { report, options, comparison, notVerified, calibrated, layers, created } = run;
  const document = {
    input: run.source.name,
    output: run.output.name,
    created: new Date(created).toISOString(),
    options,
    command_line: commandOf(run),
    calibrated,
    ...report,
    verified: comparison !== null,
    ...(notVerified ? { not_verified: notVerified } : {}),
    comparison,
    layers,
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}
