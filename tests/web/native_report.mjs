// Reports of `octet bench` as the command line really makes them, for tests that give them to the page.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../wasm/load_octet.mjs';
import { modelPath, quantize } from '../wasm/octet_runs.mjs';
import { inFolder, program, saved } from './on_page.mjs';
import { area, fileOf } from './page_steps.mjs';

const made = new Map();

/** Of an embedded model and what `mode` makes of it, whose bytes are the page's; more models after them. */
export async function benchReport(name, mode, more = {}) {
  const key = JSON.stringify([name, mode, more]);
  if (!made.has(key)) made.set(key, bench(name, mode, more));
  return structuredClone(await made.get(key));
}

function bench(name, mode, more) {
  const output = `${name}.int8.onnx`;
  const others = Object.entries(more).map(([file, options]) => [file, quantize(name, options).model]);
  const files = { [output]: quantize(name, { mode }).model, ...Object.fromEntries(others) };
  return inFolder(files, (folder) => {
    const words = [
      'bench', modelPath(name), ...Object.keys(files), '--data', join(ROOT, `tests/data/${name}/eval`), '--json',
      '--runs', '12', '--warmup', '2', '--no-memory',
    ];
    return JSON.parse(execFileSync(program, words, { cwd: folder, maxBuffer: 1e8 }));
  });
}

export const native = (page) => area(page, 'Natively');

export const reportFile = (report, name = 'bench.json') => fileOf(name, JSON.stringify(report));

/** As by the button. */
export const giveReport = (page, ...files) => native(page).locator('input[type=file]').setInputFiles(files);

export const nativeFigures = (page) => page.getByRole('region', { name: 'Here and natively in numbers' });

// As the page writes numbers.
export const msText = (ms) => (ms < 10 ? `${ms.toPrecision(2)} ms` : `${ms.toFixed(ms < 100 ? 1 : 0)} ms`);
export const timesText = (ratio) => `${ratio < 10 ? ratio.toPrecision(2) : ratio.toFixed(0)}×`;

/** All that the page knows of its run, as it gives it away. */
export const wholeReport = async (page) => JSON.parse((await saved(page, 'Report as JSON')).bytes);

/** Cells of the table's row of this name. */
export const line = (page, name) =>
  nativeFigures(page).getByRole('row').filter({ has: page.getByRole('rowheader', { name }) }).getByRole('cell').allTextContents();

/** Holds the table and the JSON report against the bench report and against what the browser measured. */
export async function sameAsReport(page, report, from) {
  const { comparison, native: kept } = await wholeReport(page);
  assert.equal(kept.from, from);
  assert.deepEqual(kept.bench.rows.map(({ milliseconds }) => milliseconds), report.rows.map(({ milliseconds }) => milliseconds));
  const threads = [...new Set(report.rows.map((row) => row.threads))];
  const here = comparison.latency_by_threads;
  for (const [model, place, name] of [['FP32', 0, 'baseline'], ['This run', 1, 'candidate']]) {
    const own = threads.map((count) => report.rows.filter((row) => row.threads === count)[place]);
    const cells = await line(page, model);
    const columns = [...here.map((timed) => timed[name].median_ms), ...own.map((row) => row.latency.median_ms)];
    for (const [i, median] of columns.entries()) assert.ok(cells[1 + i].startsWith(msText(median)), `${cells[1 + i]}: ${median}`);
    if (place === 1) {
      for (const [i, { speedup }] of own.entries()) {
        const said = `${timesText(speedup.ratio)} [${timesText(speedup.low)}, ${timesText(speedup.high)}]`;
        assert.ok(cells[1 + here.length + i].endsWith(said), `${cells[1 + here.length + i]}: ${said}`);
      }
      assert.equal(cells.at(-1), `${own[0].worst_sqnr_db.toFixed(1)} dB`);
    }
    const ratios = here.flatMap((timed) => {
      const row = own.find((one) => one.threads === timed.threads);
      return row ? [[timed.threads, timed[name].median_ms / row.latency.median_ms]] : [];
    });
    assert.ok(ratios.length > 0, 'some number of threads on both sides');
    const told = kept.browser_to_native.ratios.filter((ratio) => ratio.model === model);
    assert.deepEqual(told.map((ratio) => [ratio.threads, ratio.browser_to_native]), ratios);
    const shown = cells.slice(1 + columns.length, 1 + columns.length + ratios.length);
    assert.deepEqual(shown, ratios.map(([, ratio]) => timesText(ratio)));
  }
  return kept;
}
