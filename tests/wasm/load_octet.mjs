// The core as Node loads it: built by the wasm preset, in a build folder that OCTET_WASM_NODE may name.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const folder = process.env.OCTET_WASM_NODE ?? join(ROOT, 'build/wasm/node');

export async function loadOctet(overrides = {}) {
  const createOctet = createRequire(import.meta.url)(join(folder, 'octet.js'));
  // Emscripten 3.1.6 would fetch the .wasm, which Node refuses for paths.
  return createOctet({ wasmBinary: readFileSync(join(folder, 'octet.wasm')), ...overrides });
}
