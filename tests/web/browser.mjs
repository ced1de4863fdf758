// Chromium on the built page, with everything it asks for and complains about written down.
import { join } from 'node:path';
import { chromium } from '../../web/node_modules/playwright-core/index.mjs';
import { ROOT } from '../wasm/load_octet.mjs';
import { servePage } from './serve_page.mjs';

export const PAGE = process.env.OCTET_PAGE ?? join(ROOT, 'build/page');
// Without cross-origin isolation a page has one thread and a coarse clock.
export const ISOLATED = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
export const PHONE = { width: 360, height: 780 }, DESKTOP = { width: 1280, height: 900 };

const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

export async function launch() {
  return chromium.launch({ executablePath: process.env.OCTET_CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });
}

// With a profile on the disk, as people have it: the origin private file system is in memory otherwise.
export async function persistent(folder) {
  const options = { executablePath: process.env.OCTET_CHROMIUM ?? '/usr/bin/chromium', args: FLAGS, serviceWorkers: 'block' };
  const context = await chromium.launchPersistentContext(folder, { ...options, viewport: DESKTOP, acceptDownloads: true });
  return { newContext: async () => context, close: () => context.close() };
}

// `serve`: starts another server; `opened` of it is the address to open, where that is not its `url`.
// Without its service worker the page neither reloads by itself nor keeps anything: each test begins anew.
const DEFAULTS = { folder: PAGE, viewport: DESKTOP, colorScheme: 'light', device: {}, serviceWorkers: 'block' };

export async function openPage(browser, options = {}) {
  const { folder, viewport, colorScheme, headers, device, serviceWorkers, serve } = { ...DEFAULTS, ...options };
  const server = serve ? await serve() : await servePage(folder, { headers });
  const context = await browser.newContext({ viewport, colorScheme, serviceWorkers, acceptDownloads: true, ...device });
  const page = await context.newPage();
  const requests = [], complaints = [];
  context.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => {
    if (/^Service Worker registration blocked/.test(message.text())) return;
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.setDefaultTimeout(60_000);
  await page.goto(server.opened ?? server.url);
  return {
    page, context, server, requests, complaints, url: server.url,
    async close() {
      await context.close();
      await server.close();
    },
  };
}

// Requests that left the page's own folder; blob: and data: stay inside the browser.
export function strangers(requests, url) {
  return requests.filter((request) => !request.startsWith(url) && !/^(blob|data):/.test(request));
}

export async function quantizeSample(page, title) {
  await page.getByRole('button', { name: title }).click();
  await page.getByRole('button', { name: 'Quantize' }).click();
  await page.getByText('Measured with').waitFor();
}
