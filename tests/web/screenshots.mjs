// Pictures of the page for people to look at: node tests/web/screenshots.mjs FOLDER
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DESKTOP, launch, openPage, PHONE, quantizeSample } from './browser.mjs';

const folder = process.argv[2];
if (!folder) {
  process.stderr.write('usage: node tests/web/screenshots.mjs FOLDER\n');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const [name, viewport] of [['desktop', DESKTOP], ['phone', PHONE]]) {
  for (const colorScheme of ['light', 'dark']) {
    const { page, complaints, close } = await openPage(browser, { viewport, colorScheme });
    const path = (what) => join(folder, `${name}_${colorScheme}_${what}.png`);
    const shoot = (what) => page.screenshot({ path: path(what), fullPage: true });
    await page.getByRole('button', { name: 'Digits' }).waitFor();
    await shoot('empty');
    await quantizeSample(page, 'Small GPT');
    await shoot('result');
    for (const complaint of complaints) process.stdout.write(`${name} ${colorScheme}: ${complaint}\n`);
    await close();
  }
}
await browser.close();
