// Times the page with one model: node time_page.mjs MODEL RUNS [SAMPLES...], one JSON object on standard output.
//
// core: milliseconds of the module's quantize_model alone, in a worker, the model in memory; first: seconds on the built
// page from pressing Quantize to outputs compared (drift is shown) and to the whole verdict, each on a page just opened.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { launch, openPage } from '../../tests/web/browser.mjs';
import { ROOT } from '../../tests/wasm/load_octet.mjs';

const [model, runs, ...samples] = process.argv.slice(2);
const MODES = { dynamic: 'Dynamic', weights: 'Weights only' };
const module = process.env.OCTET_WASM_PAGE ?? join(ROOT, 'build/wasm/page');

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
  const files = {
    '/': ['text/html', '<!doctype html><title>octet</title>'], '/worker.js': ['text/javascript', WORKER],
    '/octet.mjs': ['text/javascript', readFileSync(join(module, 'octet.mjs'))],
    '/octet.wasm': ['application/wasm', readFileSync(join(module, 'octet.wasm'))],
    '/model': ['application/octet-stream', readFileSync(model)],
  };
  const server = createServer(({ url }, response) => {
    const [type, body] = files[url] ?? [];
    response.writeHead(type ? 200 : 404, { 'content-type': type ?? 'text/plain' }).end(body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  const times = await page.evaluate(async ([modes, count]) => {
    const worker = new Worker('/worker.js', { type: 'module' });
    const answer = () => new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => (data.error ? reject(new Error(data.error.message)) : resolve(data));
      worker.onerror = (event) => reject(new Error(event.message));
    });
    await answer();
    const found = Object.fromEntries(modes.map((mode) => [mode, []]));
    for (let i = -1; i < count; ++i) { // the first warms up
      for (const mode of modes) {
        const done = answer();
        worker.postMessage(mode);
        const { ms } = await done;
        if (i >= 0) found[mode].push(ms);
      }
    }
    return found;
  }, [Object.keys(MODES), Number(runs)]);
  await page.close();
  server.close();
  server.closeAllConnections();
  return times;
}

async function timeFirst(browser, mode) {
  const { page, close } = await openPage(browser);
  try {
    await page.locator('input[type=file]').first().setInputFiles([model]);
    await page.getByRole('heading', { name: basename(model) }).waitFor();
    if (samples.length > 0) {
      await page.getByRole('region', { name: 'Samples to check on' }).locator('input[type=file]').first().setInputFiles(samples);
    }
    await page.getByRole('radio', { name: MODES[mode] }).check();
    const button = page.getByRole('button', { name: 'Quantize', exact: true });
    await button.waitFor();
    await page.waitForTimeout(500); // the plan is there
    const started = performance.now();
    await button.click();
    await page.getByRole('img', { name: /^Drift/ }).first().waitFor();
    const verified = (performance.now() - started) / 1000;
    await page.getByText('Measured with').waitFor();
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
