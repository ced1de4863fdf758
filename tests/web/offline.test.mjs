// Without a network, isolated from other origins, installable, and small.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliCompressSync, constants } from 'node:zlib';
import { PAGE } from './browser.mjs';
import { onPage } from './on_page.mjs';

const ALLOWED = { serviceWorkers: 'allow' };
const ready = (page) => page.getByText('Works offline from now on').waitFor();
const isIsolated = (page) => page.evaluate(() => crossOriginIsolated);

// Asking the page would look like a visitor at work, under whom it does not reload.
async function comesAgain(page, requests, url) {
  const opened = () => requests.filter((request) => request === url).length;
  for (let tries = 0; tries < 200 && opened() < 2; ++tries) await page.waitForTimeout(100);
  await ready(page);
  assert.equal(await isIsolated(page), true);
  return opened();
}

onPage('opens and quantizes when the server is gone', ALLOWED, async (page, { server, context, url }) => {
  await ready(page);
  await page.close();
  await server.close();
  const again = await context.newPage();
  await again.goto(url);
  await again.getByRole('button', { name: 'Digits' }).click();
  await again.getByRole('button', { name: 'Quantize', exact: true }).click();
  await again.getByText('Measured with').waitFor();
  assert.equal(await isIsolated(again), true);
});

onPage('is isolated after the first visit, by one reload', ALLOWED, async (page, { requests, url }) => {
  assert.equal(await comesAgain(page, requests, url), 2);
  assert.equal(await page.evaluate(() => sessionStorage.length), 0, 'nothing is remembered once it is isolated');
});

onPage('does not reload under a model that is open', ALLOWED, async (page, { requests, url, context }) => {
  // A second page, whose worker comes while a model is open already.
  await comesAgain(page, requests, url);
  const other = await context.newPage();
  await other.goto(url);
  await other.getByRole('button', { name: 'Digits' }).click();
  await other.getByRole('button', { name: 'Quantize', exact: true }).waitFor();
  const before = requests.filter((request) => request === url).length;
  await other.evaluate(() => navigator.serviceWorker.dispatchEvent(new Event('controllerchange')));
  await other.getByRole('button', { name: 'Quantize', exact: true }).waitFor();
  assert.equal(requests.filter((request) => request === url).length, before);
});

const isolating = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };

onPage('never reloads where the server isolates', { ...ALLOWED, headers: isolating }, async (page, { requests, url }) => {
  await ready(page);
  assert.equal(await isIsolated(page), true);
  assert.equal(requests.filter((request) => request === url).length, 1);
});

onPage('can be installed', {}, async (page, { url }) => {
  const manifest = await page.evaluate(async () => {
    const { href } = document.querySelector('link[rel=manifest]');
    return (await fetch(href)).json();
  });
  for (const size of [192, 512]) assert.ok(manifest.icons.some(({ sizes }) => sizes === `${size}x${size}`));
  assert.ok(manifest.icons.some(({ purpose }) => purpose === 'maskable'));
  for (const { src, sizes } of manifest.icons) {
    const [width, height] = await page.evaluate(async (address) => {
      const image = new Image();
      image.src = address;
      await image.decode();
      return [image.naturalWidth, image.naturalHeight];
    }, new URL(src, url).href);
    assert.equal(`${width}x${height}`, sizes);
  }
  assert.equal(new URL(manifest.start_url, url).href, url);
});

const compressed = (file) =>
  brotliCompressSync(readFileSync(file), { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;

test('keeps its budgets', () => {
  const assets = readdirSync(join(PAGE, 'assets')).map((name) => join(PAGE, 'assets', name));
  const core = assets.filter((name) => /\/octet-.*\.wasm$/.test(name));
  assert.equal(core.length, 1);
  // All scripts, though the worker's come later and those of reports only when asked for.
  const shell = [join(PAGE, 'index.html'), join(PAGE, 'sw.js'), ...assets.filter((name) => /\.(js|css)$/.test(name))];
  const kilobytes = (files) => files.reduce((sum, file) => sum + compressed(file), 0) / 1000;
  process.stdout.write(`# shell ${kilobytes(shell).toFixed(0)} KB, core ${kilobytes(core).toFixed(0)} KB, compressed\n`);
  assert.ok(kilobytes(shell) < 300, `shell: ${kilobytes(shell)} KB`);
  assert.ok(kilobytes(core) < 900, `core: ${kilobytes(core)} KB`);
});
