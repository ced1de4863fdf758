// A bare page with a module worker beside the compiled core: /octet.mjs and /octet.wasm as the wasm preset built them.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { ROOT } from '../wasm/load_octet.mjs';

const module = process.env.OCTET_WASM_PAGE ?? join(ROOT, 'build/wasm/page');
const built = (name) => readFileSync(join(module, name));

/**
 * Opens the page and starts `worker`, the text of a script that posts one message when it is ready and answers each it
 * gets with one. `answer(request, response)` serves every other address. ask() sends a message and gives the answer.
 */
export async function openModulePage(browser, worker, answer) {
  const files = {
    '/': () => ['text/html', '<!doctype html><title>octet</title>'], '/worker.js': () => ['text/javascript', worker],
    '/octet.mjs': () => ['text/javascript', built('octet.mjs')], '/octet.wasm': () => ['application/wasm', built('octet.wasm')],
  };
  const server = createServer((request, response) => {
    const file = files[request.url]?.();
    if (file) return response.writeHead(200, { 'content-type': file[0] }).end(file[1]);
    Promise.resolve(answer(request, response))
      .catch((fault) => response.headersSent || response.writeHead(500).end(String(fault)));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.evaluate(() => {
    window.worker = new Worker('/worker.js', { type: 'module' });
    window.answered = () => new Promise((resolve, reject) => {
      window.worker.onmessage = ({ data }) => resolve(data);
      window.worker.onerror = (event) => reject(new Error(event.message));
    });
    return window.answered();
  });
  return {
    ask: (message) => page.evaluate((sent) => {
      const answer = window.answered();
      window.worker.postMessage(sent);
      return answer;
    }, message),
    async close() {
      await page.close();
      server.close();
      server.closeAllConnections();
    },
  };
}
