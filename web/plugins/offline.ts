// Makes the page installable and usable without a network: sw.js with the list of what was built, the manifest, icons.
// One short worker of our own: vite-plugin-pwa would bring Workbox and its packages along, and isolation would still have
// to be written.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformWithEsbuild } from 'vite';
import type { Plugin } from 'vite';
import { iconPng } from './icon_png';

const WORKER = fileURLToPath(new URL('../src/offline/service_worker.ts', import.meta.url));

const ICONS = [
  { file: 'icon-192.png', size: 192, maskable: false },
  { file: 'icon-512.png', size: 512, maskable: false },
  { file: 'icon-maskable-512.png', size: 512, maskable: true },
];

const MANIFEST = {
  id: './',
  name: 'Octet',
  short_name: 'Octet',
  description: 'Quantize an ONNX model in the browser. It never leaves this computer.',
  start_url: './',
  scope: './',
  display: 'standalone',
  background_color: '#fbfbf9',
  theme_color: '#0b6e69',
  icons: ICONS.map(({ file, size, maskable }) => (
    { src: file, sizes: `${size}x${size}`, type: 'image/png', purpose: maskable ? 'maskable' : 'any' }
  )),
};

const POLICY = /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/;

// What opens the page; the rest follows once it stands.
const isFirst = (file: string, html: string) => file === 'index.html' || html.includes(file);

export function offline(): Plugin {
  return {
    name: 'offline',
    enforce: 'post',
    apply: 'build',
    transformIndexHtml: () => [
      { tag: 'link', attrs: { rel: 'manifest', href: './manifest.webmanifest' }, injectTo: 'head' },
      { tag: 'link', attrs: { rel: 'apple-touch-icon', href: './icon-192.png' }, injectTo: 'head' },
    ],
    generateBundle: {
      order: 'post',
      async handler(_options, bundle) {
        const emit = (fileName: string, source: string | Uint8Array) => this.emitFile({ type: 'asset', fileName, source });
        for (const { file, size, maskable } of ICONS) emit(file, iconPng(size, maskable));
        emit('manifest.webmanifest', JSON.stringify(MANIFEST));

        const page = bundle['index.html'];
        if (page?.type !== 'asset') throw new Error('offline: there is no index.html among what was built');
        const html = String(page.source);
        const files = [...new Set([...Object.keys(bundle), ...ICONS.map(({ file }) => file), 'manifest.webmanifest'])].sort();
        const first = files.filter((file) => isFirst(file, html));
        const constants = {
          FILES: { first, rest: files.filter((file) => !first.includes(file)) },
          VERSION: createHash('sha256').update(JSON.stringify(files)).update(html).digest('hex').slice(0, 12),
          POLICY: POLICY.exec(html)![1],
        };
        const lines = Object.entries(constants).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`);
        const { code } = await transformWithEsbuild(readFileSync(WORKER, 'utf8'), WORKER, { target: 'es2022', sourcemap: false });
        emit('sw.js', `${lines.join('\n')}\n${code}`);
      },
    },
  };
}
