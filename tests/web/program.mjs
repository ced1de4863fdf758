// The command line that the page is held against.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../wasm/load_octet.mjs';

export const program = process.env.OCTET_EXECUTABLE ?? join(ROOT, 'build/native/octet');
/** Tests that need it are skipped where it is not built. */
export const unbuilt = existsSync(program) ? false : `${program} is not built`;
