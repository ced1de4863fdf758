// Pictures of the page in every state for people to look at: node tests/web/screenshots.mjs FOLDER [WIDTH_SCHEME...]
//   WIDTH_SCHEME: desktop_light desktop_dark phone_light phone_dark; all of them by default
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { modelBytes } from '../wasm/octet_runs.mjs';
import { DESKTOP, launch, openPage, PHONE } from './browser.mjs';
import { fileOf, findLayers, measured, pinned, quantizeIn, twoMarked } from './page_steps.mjs';
import { unbuilt } from './program.mjs';
import { serveOctet } from './serve_octet.mjs';

const [folder, ...asked] = process.argv.slice(2);
if (!folder) {
  process.stderr.write('usage: node tests/web/screenshots.mjs FOLDER [WIDTH_SCHEME...]\n');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });

// In this order on one page; each says what is to be seen, and the part of the page it is about, if not all of it.
const STATES = [
  ['1_empty', async (page) => { await page.getByRole('button', { name: 'Digits' }).waitFor(); }],
  ['2_wrong_file', async (page) => {
    await page.locator('input[type=file]').first().setInputFiles([fileOf('cut.onnx', modelBytes('gpt_char').subarray(0, 5000))]);
    await page.getByRole('alert').waitFor();
  }],
  ['3_opened', async (page) => {
    await page.getByRole('button', { name: 'Another model' }).click();
    await page.getByRole('button', { name: 'Small GPT' }).click();
    await page.getByRole('button', { name: 'Quantize', exact: true }).waitFor();
  }],
  ['4_more_options', async (page) => {
    await page.getByText('Static', { exact: true }).first().click();
    await page.getByText('More', { exact: true }).first().click();
  }],
  ['5_measuring', async (page) => {
    await page.getByText('More', { exact: true }).first().click();
    await page.getByText('Weights only', { exact: true }).first().click();
    await page.getByRole('button', { name: 'Quantize', exact: true }).click();
    await page.getByText(/being measured/).waitFor();
  }],
  ['6_result', measured],
  ['7_pinned', (page) => pinned(page, 'Static')],
  ['8_layers', async (page) => {
    await findLayers(page);
    await page.locator('.layer-list .row-name').nth(2).click();
    await page.getByText('outside it:').waitFor();
  }],
  ['9_compare', twoMarked],
  ['10_again', async (page) => {
    await page.waitForTimeout(1000); // what is kept is written
    await page.reload();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
  }],
  ['11_cancelled', async (page) => {
    await page.getByRole('button', { name: 'Digits' }).click();
    await quantizeIn(page, 'Dynamic');
    await page.getByText(/being measured/).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('it was cancelled').waitFor();
  }],
  ['12_searching', async (page) => {
    await page.getByRole('button', { name: 'Another model' }).click();
    await page.getByRole('button', { name: 'Small GPT' }).click();
    await page.getByRole('radio', { name: 'Automatic' }).check();
    await page.getByLabel('Lowest SQNR, in dB', { exact: true }).fill('35');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.locator('[data-candidate]').nth(2).waitFor();
  }],
  ['13_found', async (page) => {
    await page.getByRole('button', { name: 'Search', exact: true, disabled: false }).waitFor({ timeout: 200_000 });
  }],
];

// Under octet serve, where native figures come by themselves.
const SERVED = [
  ['12_native', async (page) => {
    await page.getByRole('button', { name: 'Small GPT' }).click();
    await quantizeIn(page, 'Dynamic');
    await page.getByRole('region', { name: 'Here and natively in numbers' }).waitFor();
  }],
];

const browser = await launch();
for (const [width, viewport] of [['desktop', DESKTOP], ['phone', PHONE]]) {
  for (const colorScheme of ['light', 'dark']) {
    const name = `${width}_${colorScheme}`;
    if (asked.length > 0 && !asked.includes(name)) continue;
    for (const [states, serve] of [[STATES], ...(unbuilt ? [] : [[SERVED, serveOctet]])]) {
      const { page, complaints, close } = await openPage(browser, { viewport, colorScheme, serve });
      for (const [state, reach] of states) {
        await reach(page);
        await page.screenshot({ path: join(folder, `${name}_${state}.png`), fullPage: true });
      }
      for (const complaint of complaints) process.stdout.write(`${name}: ${complaint}\n`);
      await close();
    }
  }
}
await browser.close();
