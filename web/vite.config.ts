import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { offline } from './plugins/offline';
import { sampleArchives } from './plugins/sample_archives';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

// Where `npm --prefix wasm run build` put the package.
const octet = process.env.OCTET_PACKAGE ?? path('../build/wasm/package');

const bytesOf = (model: string) => statSync(path(`../tests/data/${model}.onnx`)).size;

export default defineConfig({
  base: './', // works from any folder of any server
  resolve: {
    alias: { 'octet-wasm': `${octet}/lib/index.js` },
    dedupe: ['onnxruntime-web', 'fflate'], // the package has none of its own
  },
  plugins: [sampleArchives(path('../tests/data')), offline()],
  assetsInclude: ['**/*.onnx'],
  define: { SAMPLE_BYTES: { digits_cnn: bytesOf('digits_cnn'), gpt_char: bytesOf('gpt_char') } },
  worker: { format: 'es' },
  build: {
    outDir: process.env.OCTET_PAGE ?? path('../build/page'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0, // the content policy allows no data: scripts or modules
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 600,
  },
  server: { fs: { allow: [path('..'), octet] } },
});
