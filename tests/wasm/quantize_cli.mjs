// Quantizes a model with the WebAssembly core under Node: node quantize_cli.mjs MODEL OPTIONS_JSON OUT [RANGES]
//
// Writes OUT (and OUT.data when the weights go there), prints the report as JSON, and ends with the command line's exit
// status. External data is read beside MODEL. With "-" alone, jobs are read from standard input, one JSON object per
// line, {"model", "options", "output", "ranges", "plan"}, and each is answered by one line, {"report"} or {"error"}.
import { closeSync, fstatSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { loadOctet } from './load_octet.mjs';

// A file as the module reads it, never whole.
class FileReader {
  constructor(path) {
    this.descriptor = openSync(path, 'r');
    this.size = fstatSync(this.descriptor).size;
  }

  read(offset, length) {
    const bytes = new Uint8Array(length);
    return readSync(this.descriptor, bytes, 0, length, offset) === length ? bytes : null;
  }

  close() {
    closeSync(this.descriptor);
  }
}

function failure(code, exit_status, where, problem) {
  return { error: { code, where, problem, next: '', message: `${where}: ${problem}`, exit_status } };
}

// Opened once; null when it cannot be.
function open(path, opened) {
  if (!opened.has(path)) {
    try {
      opened.set(path, new FileReader(path));
    } catch {
      return null;
    }
  }
  return opened.get(path);
}

function quantize(octet, { model, options, output, ranges, plan }) {
  const opened = new Map();
  try {
    const reader = open(model, opened);
    if (!reader) return failure('read', 3, model, 'cannot be read');
    const result = octet.quantize_model({
      name: basename(model),
      model: reader,
      open: (location) => open(join(dirname(model), location), opened),
      options: plan ? { ...options, plan: JSON.parse(readFileSync(plan, 'utf8')) } : options,
      ranges: ranges && readFileSync(ranges, 'utf8'),
      output: basename(output),
    });
    if (result.error) return result;
    writeFileSync(output, result.model);
    if (result.external) writeFileSync(join(dirname(output), result.external_name), result.external);
    return { report: result.report };
  } finally {
    for (const reader of opened.values()) reader.close();
  }
}

function parse(json) {
  try {
    return { given: JSON.parse(json) };
  } catch (fault) {
    return failure('usage', 2, 'options', fault.message);
  }
}

async function serve(octet) {
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(quantize(octet, JSON.parse(line)))}\n`);
  }
}

function once(octet, [model, options, output, ranges]) {
  const { given, error } = parse(options);
  const result = error ? { error } : quantize(octet, { model, options: given, output, ranges });
  if (result.error) {
    process.stderr.write(`${result.error.message}\n`);
    process.exitCode = result.error.exit_status;
  } else {
    process.stdout.write(`${JSON.stringify(result.report, null, 1)}\n`);
  }
}

const words = process.argv.slice(2);
if (words.length === 1 && words[0] === '-') {
  await serve(await loadOctet());
} else if (words.length === 3 || words.length === 4) {
  once(await loadOctet(), words);
} else {
  process.stderr.write('usage: node quantize_cli.mjs MODEL OPTIONS_JSON OUT [RANGES], or with - alone for jobs\n');
  process.exitCode = 2;
}
