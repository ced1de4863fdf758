// What axe finds wrong on a page.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../wasm/load_octet.mjs';

const AXE = readFileSync(join(ROOT, 'web/node_modules/axe-core/axe.min.js'), 'utf8');

// The page's policy lets no script in; the debugger's are not asked.
export async function violations(page, context) {
  const debug = await context.newCDPSession(page);
  await debug.send('Runtime.evaluate', { expression: AXE });
  const found = await page.evaluate(async () => (await globalThis.axe.run(document)).violations);
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`));
}
