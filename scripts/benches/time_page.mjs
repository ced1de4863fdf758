// Times the page with one model: node time_page.mjs MODEL RUNS [SAMPLES...], one JSON object on standard output.
//
// core: milliseconds of the module's quantize_model alone, in a worker, the model in memory; first: seconds on the built
// page from pressing Quantize to outputs compared (drift is shown) and to the whole verdict, each on a page just opened.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { launch, openPage } from '../../tests/web/browser.mjs';
import { openModulePage } from '../../tests/web/module_page.mjs';
import { giveSamples, measured } from '../../tests/web/page_steps.mjs';

const [model, runs, ...samples] = process.argv.slice(2);
const MODES = { dynamic: 'Dynamic', weights: 'Weights only' };

const WORKER = `
import createOctet from '/octet.mjs';
const [octet, model] = await Promise.all([createOctet(), fetch('/model').then((answer) => answer.arrayBuffer())]);
onmessage = ({ data: mode }) => {
  const bytes = new Uint8Array(model), started = performance.now();
  const result = octet.quantize_model({ model: bytes, options: { mode, target: 'wasm' } });
  postMessage({ error: result.error, ms: performance.now() - started });
};
postMessage('ready');
`;

async function timeCore(browser) {
  const page = await openModulePage(browser, WORKER, (_, response) => response.writeHead(200).end(readFileSync(model)));
  const times = Object.fromEntries(Object.keys(MODES).map((mode) => [mode, []]));
  for (let i = -1; i < Number(runs); ++i) { // the first warms up
    for (const mode of Object.keys(MODES)) {
      const { error, ms } = await page.ask(mode);
      if (error) throw new Error(error.message);
      if (i >= 0) times[mode].push(ms);
    }
  }
  await page.close();
  return times;
}

async function timeFirst(browser, mode) {
  const { page, close } = await openPage(browser);
  try {
    await page.locator('input[type=file]').first().setInputFiles([model]);
    await page.getByRole('heading', { name: basename(model) }).waitFor();
    if (samples.length > 0) {
      await giveSamples(page, 'Samples to check on', samples);
    }
    await page.getByRole('radio', { name: MODES[mode] }).check();
    const button = page.getByRole('button', { name: 'Quantize', exact: true });
    await button.waitFor();
    await page.waitForTimeout(500); // the plan is there
    const started = performance.now();
    await button.click();
    await page.getByRole('img', { name: /^Drift/ }).first().waitFor();
    const verified = (performance.now() - started) / 1000;
    await measured(page);
    return { verified, judged: (performance.now() - started) / 1000 };
  } finally {
    await close();
  }
}

const browser = await launch();
const first = {};
for (const mode of Object.keys(MODES)) {
  first[mode] = [];
  for (let i = 0; i < Number(runs); ++i) first[mode].push(await timeFirst(browser, mode));
}
process.stdout.write(`${JSON.stringify({ core: await timeCore(browser), first })}\n`);
await browser.close();
