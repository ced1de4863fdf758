// All that is known of a run, as JSON: the quantizer's report, the options, what was measured, where.
import { acrossText, figuresOf, machinesOf, ratiosOf } from '../native/figures';
import type { Native } from '../native/figures';
import type { Run } from '../state/runs';
import { commandOf } from './run_words';

// What `octet bench` reported, and how both sides compare: a ratio always says what it goes across.
function nativeJson(run: Run, native: Native) {
  const { rows } = figuresOf(run, null);
  const ratios = rows.flatMap((row) => ratiosOf(row).map((ratio) => ({ model: row.label, ...ratio })));
  const cores = run.comparison?.environment.cores;
  return {
    from: native.file ?? 'octet serve',
    bench: native.report,
    browser_to_native: {
      across_runtimes: true,
      ...(cores !== undefined && { machines: machinesOf(native, cores) }),
      note: acrossText(native, run),
      ratios,
    },
  };
}

export function reportJson(run: Run): string {
  const { report, options, planFile, comparison, notVerified, calibrated, layers, created, native } = run;
  const document = {
    input: run.source.name,
    output: run.output.name,
    created: new Date(created).toISOString(),
    options,
    ...(planFile !== undefined && { plan_file: planFile }),
    command_line: commandOf(run),
    calibrated,
    ...report,
    verified: comparison !== null,
    ...(notVerified ? { not_verified: notVerified } : {}),
    comparison,
    layers,
    native: native && nativeJson(run, native),
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}
