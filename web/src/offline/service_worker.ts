// Keeps the page so that it opens without a network, and adds the headers that isolate it from other origins, which the
// runtime needs for more than one thread and which many servers cannot send. plugins/offline.ts gives it its constants.

/** Everything that the page consists of, relative to its folder; the first are enough to open it. */
declare const FILES: { first: string[]; rest: string[] };
declare const VERSION: string;
/** The page's own content policy: as a header it binds workers too. */
declare const POLICY: string;

const worker = self as unknown as ServiceWorkerGlobalScope;
const folder = new URL('./', worker.location.href);
// Pages of one origin share their caches.
const PREFIX = `octet ${folder.pathname} `;
const CACHE = PREFIX + VERSION;

const urlOf = (file: string) => new URL(file, folder).href;

const HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': POLICY,
};

function isolated(response: Response): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}

/** Fetches what is missing; past the browser's own cache where names stay while contents change. */
async function keep(files: string[]) {
  const cache = await caches.open(CACHE);
  for (const file of files) {
    const url = urlOf(file), hashed = file.startsWith('assets/');
    if (await cache.match(url)) continue;
    const response = await fetch(url, { cache: hashed ? 'default' : 'reload' });
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
    await cache.put(url, response);
  }
}

// A page that was opened before may still ask for files of the version before.
async function clearOld() {
  const mine = (await caches.keys()).filter((name) => name.startsWith(PREFIX));
  for (const name of mine.slice(0, -2)) await caches.delete(name);
}

async function found(request: Request): Promise<Response | undefined> {
  const url = new URL(request.url);
  url.hash = url.search = '';
  const cache = await caches.open(CACHE);
  const kept = await cache.match(url.href === folder.href ? urlOf('index.html') : url.href);
  return kept ?? caches.match(url.href);
}

async function answer(request: Request): Promise<Response> {
  const kept = await found(request);
  return isolated(kept ?? (await fetch(request)));
}

worker.addEventListener('install', (event) => {
  event.waitUntil(keep(FILES.first).then(() => worker.skipWaiting()));
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(clearOld().then(() => worker.clients.claim()));
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  // What `octet serve` is asked for is never kept, nor looked for among what is.
  const asked = request.url.startsWith(`${worker.location.origin}/api/`);
  if (request.method === 'GET' && !asked && request.url.startsWith(folder.href)) event.respondWith(answer(request));
});

// The page asks once it stands; what it hears back is whether all of it is here.
worker.addEventListener('message', (event) => {
  if (event.data !== 'keep all') return;
  const reply = (kept: boolean) => event.source?.postMessage({ kept });
  event.waitUntil(keep([...FILES.first, ...FILES.rest]).then(() => reply(true), () => reply(false)));
});
