// File names of what can be taken from a run: all after the quantized model's.
import type { Run } from '../state/runs';

const stem = (run: Run) => run.output.name.replace(/\.onnx$/i, '');

export const planName = (run: Run) => `${stem(run)}.plan.json`;
export const rangesName = (run: Run) => `${run.source.name.replace(/\.onnx$/i, '')}.ranges.json`;
export const reportName = (run: Run, kind: 'json' | 'html' | 'png') => `${stem(run)}.report.${kind}`;

export const planText = (run: Run) => `${JSON.stringify(run.report.plan, null, 1)}\n`;
