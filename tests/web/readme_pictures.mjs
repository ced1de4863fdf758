// Pictures of the page for the README: node tests/web/readme_pictures.mjs FOLDER
import { join } from 'node:path';
import { launch, openPage } from './browser.mjs';
import { findLayers, measured, pinned, quantizeIn, twoMarked } from './page_steps.mjs';
import { serveOctet } from './serve_octet.mjs';

const folder = process.argv[2];
const WINDOW = { width: 1120, height: 900 }, PHONE = { width: 400, height: 860 };

const browser = await launch();

// `parts`: selectors of what is shown, from the top of the first to the end of the last.
async function shoot(page, name, ...parts) {
  await page.evaluate(() => document.activeElement?.blur());
  const boxes = [];
  for (const part of parts) boxes.push(await page.locator(part).first().boundingBox());
  const scrolled = await page.evaluate(() => scrollY);
  const top = Math.max(0, Math.min(...boxes.map(({ y }) => y)) + scrolled - 16);
  const bottom = Math.max(...boxes.map(({ y, height }) => y + height)) + scrolled + 16;
  const { width } = page.viewportSize();
  await page.screenshot({
    path: join(folder, `${name}.png`), fullPage: true, clip: { x: 0, y: top, width, height: bottom - top },
  });
}

async function opened(options, steps) {
  const { page, close } = await openPage(browser, options);
  await steps(page);
  await close();
}

await opened({ viewport: WINDOW }, async (page) => {
  await page.getByRole('button', { name: 'Small GPT' }).click();
  await quantizeIn(page, 'Weights only');
  await measured(page);
  await pinned(page, 'Static');
  await shoot(page, 'page_result', '.result .head', '.take');
  await twoMarked(page);
  await shoot(page, 'page_runs', '.runs');
});

await opened({ viewport: WINDOW, colorScheme: 'dark' }, async (page) => {
  await page.getByRole('button', { name: 'Digits' }).click();
  await quantizeIn(page, 'Static');
  await measured(page);
  await findLayers(page);
  await page.locator('.layer-list .row-name').nth(2).click();
  await page.getByText('outside it:').waitFor();
  await shoot(page, 'page_layers', '.layers');
});

await opened({ viewport: PHONE, colorScheme: 'dark' }, async (page) => {
  await page.getByRole('button', { name: 'Digits' }).click();
  await quantizeIn(page, 'Static');
  await measured(page);
  await shoot(page, 'page_phone', '.result .head', '.pictures');
});

await opened({ viewport: WINDOW, serve: serveOctet }, async (page) => {
  await page.getByRole('button', { name: 'Small GPT' }).click();
  await quantizeIn(page, 'Dynamic');
  await page.getByRole('region', { name: 'Here and natively in numbers' }).waitFor();
  await shoot(page, 'page_native', '.native-view');
});

await browser.close();
