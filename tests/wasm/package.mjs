// The built npm package, as far as Node can use it: `npm --prefix wasm run build` made it, where OCTET_PACKAGE may name.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './load_octet.mjs';

export const PACKAGE = process.env.OCTET_PACKAGE ?? join(ROOT, 'build/wasm/package');
export const { calibrate, OctetError } = await import(pathToFileURL(join(PACKAGE, 'lib/calibrate.js')));
