// A project like that of anyone who uses the package: made from nothing, with the packed tarball, built by Vite.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../wasm/load_octet.mjs';
import { PACKAGE } from '../wasm/package.mjs';

const HTML = `<!doctype html><title>mine</title><link rel="icon" href="data:,">
<script type="module" src="/src/main.ts"></script>`;

// What tests call from outside.
const MAIN = `
import * as octet from 'octet-wasm';
import * as example from './example';
Object.assign(window, { octet, example });
`;

const TYPES = { compilerOptions: {
  target: 'ES2022', module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2022', 'DOM'], strict: true, noEmit: true,
  types: [],
} };

const manifestOf = (name) => readFileSync(join(ROOT, 'web/node_modules', name, 'package.json'), 'utf8');
const versionOf = (name) => JSON.parse(manifestOf(name)).version;

// The TypeScript of wasm/README.md, one block after the other.
export function readmeCode() {
  const text = readFileSync(join(ROOT, 'wasm/README.md'), 'utf8');
  return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code).join('\n');
}

export function makeProject() {
  const folder = mkdtempSync(join(tmpdir(), 'octet-project-'));
  const inside = (program, ...words) => execFileSync(program, words, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
  const npm = (...words) => inside('npm', ...words, '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline');
  const packed = JSON.parse(npm('pack', PACKAGE, '--json'))[0];
  const manifest = { name: 'mine', private: true, type: 'module' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  npm('install', `./${packed.filename}`, `vite@${versionOf('vite')}`, `typescript@${versionOf('typescript')}`);
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'index.html'), HTML);
  writeFileSync(join(folder, 'src/main.ts'), MAIN);
  writeFileSync(join(folder, 'src/example.ts'), readmeCode());
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...TYPES, include: ['src'] }));
  return {
    folder, packed,
    check: () => inside('npx', 'tsc', '-p', '.'),
    // Built into a folder that any web server can have.
    build() {
      inside('npx', 'vite', 'build', '--base', './');
      return join(folder, 'dist');
    },
    addFile: (path, text) => writeFileSync(join(folder, path), text),
    copy: (from, to) => cpSync(from, join(folder, to), { recursive: true }),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
