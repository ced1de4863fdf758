// The npm package as one script for pages, beside what it loads: node bundle_package.mjs FOLDER. The page there takes
// files into two fields, #models and #samples, and has the package as `octet`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../../web/node_modules/vite/dist/node/index.js';
import { ROOT } from '../../tests/wasm/load_octet.mjs';

const PAGE = `<!doctype html><title>octet</title><link rel="icon" href="data:,">
<input type="file" id="models" multiple><input type="file" id="samples" multiple>
<script type="module">import * as octet from './octet.js'; window.octet = octet;</script>
`;

const [folder] = process.argv.slice(2);
const octet = process.env.OCTET_PACKAGE ?? join(ROOT, 'build/wasm/package');
await build({
  root: join(ROOT, 'web'), configFile: false, base: './', logLevel: 'error',
  resolve: { dedupe: ['onnxruntime-web', 'fflate'] }, // the package has none of its own
  worker: { format: 'es' },
  build: {
    outDir: folder, emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0, chunkSizeWarningLimit: 600,
    rollupOptions: {
      input: { octet: join(octet, 'lib/index.js') }, preserveEntrySignatures: 'strict',
      output: { entryFileNames: '[name].js' },
    },
  },
});
writeFileSync(join(folder, 'index.html'), PAGE);
