// Makes the npm package: the compiled library, the module as the wasm preset built it, and what describes them.
//   OCTET_WASM_PAGE: where the module is (build/wasm/page); OCTET_PACKAGE: where the package goes (build/wasm/package)
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const module = process.env.OCTET_WASM_PAGE ?? join(here, '../build/wasm/page');
const output = process.env.OCTET_PACKAGE ?? join(here, '../build/wasm/package');
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

function stop(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

if (!existsSync(join(module, 'octet.mjs'))) {
  stop(`${module}/octet.mjs is not there; ninja -C build/wasm octet_wasm makes it`);
}

rmSync(join(output, 'lib'), { recursive: true, force: true });
try {
  execFileSync(process.execPath, [tsc, '-p', here, '--outDir', join(output, 'lib')], { stdio: 'inherit' });
} catch {
  stop('the library does not compile');
}

mkdirSync(output, { recursive: true });
copyFileSync(join(module, 'octet.mjs'), join(output, 'octet.js'));
copyFileSync(join(module, 'octet.wasm'), join(output, 'octet.wasm'));
for (const name of [...readdirSync(here).filter((name) => name.endsWith('.d.ts')), 'README.md']) {
  copyFileSync(join(here, name), join(output, name));
}
copyFileSync(join(here, '../LICENSE'), join(output, 'LICENSE'));

const whole = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
const { private: _, scripts, devDependencies, ...manifest } = whole;
writeFileSync(join(output, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
