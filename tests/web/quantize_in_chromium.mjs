// Quantizes models with the WebAssembly core in Chromium, in a worker as on the page. Jobs are read from standard
// input, one JSON object per line, {"model", "options", "output", "ranges", "plan"}, and each is answered by one line,
// {"report"} or {"error"}: what tests/wasm/quantize_cli.mjs does under Node. External data is read beside MODEL.
import { createReadStream, createWriteStream, existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { launch } from './browser.mjs';
import { openModulePage } from './module_page.mjs';

const WORKER = `
import createOctet from '/octet.mjs';
const octet = await createOctet();

// Whole files, read when they are asked for: a worker may wait.
function fetched(path) {
  const request = new XMLHttpRequest();
  request.open('GET', '/file?path=' + encodeURIComponent(path), false);
  request.responseType = 'arraybuffer';
  request.send();
  return request.status === 200 ? new Uint8Array(request.response) : null;
}

function put(path, bytes) {
  const request = new XMLHttpRequest();
  request.open('PUT', '/file?path=' + encodeURIComponent(path), false);
  request.send(bytes);
  if (request.status !== 204) throw new Error(path + ' was not written: ' + request.status);
}

onmessage = ({ data: { model, folder, name, options, ranges, output, outputs } }) => {
  const result = octet.quantize_model({
    name, model: fetched(model), open: (location) => fetched(folder + '/' + location), options, ranges, output,
  });
  if (!result.error) {
    put(outputs + '/' + output, result.model);
    if (result.external) put(outputs + '/' + result.external_name, result.external);
  }
  postMessage(result.error ? { error: result.error } : { report: result.report });
};
postMessage('ready');
`;

async function answer(request, response) {
  const url = new URL(request.url, 'http://page'), path = url.searchParams.get('path');
  if (url.pathname !== '/file') return response.writeHead(404).end();
  if (request.method === 'PUT') {
    await pipeline(request, createWriteStream(path));
    return response.writeHead(204).end();
  }
  if (!existsSync(path) || !statSync(path).isFile()) return response.writeHead(404).end();
  response.writeHead(200, { 'content-length': statSync(path).size });
  return pipeline(createReadStream(path), response);
}

const browser = await launch();
const page = await openModulePage(browser, WORKER, answer);

for await (const line of createInterface({ input: process.stdin })) {
  const { model, options, output, ranges, plan } = JSON.parse(line);
  let said;
  try {
    said = await page.ask({
      model, folder: dirname(model), name: basename(model), output: basename(output), outputs: dirname(output),
      options: plan ? { ...options, plan: JSON.parse(readFileSync(plan, 'utf8')) } : options,
      ranges: ranges && readFileSync(ranges, 'utf8'),
    });
  } catch (fault) {
    said = { error: { code: 'internal', message: String(fault) } };
  }
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
await page.close();
await browser.close();
