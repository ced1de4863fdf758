// What axe finds wrong for people who hear the page, enlarge it or see few colours; in both themes.
import assert from 'node:assert/strict';
import { modelBytes, quantize } from '../wasm/octet_runs.mjs';
import { violations } from './axe.mjs';
import { PHONE } from './browser.mjs';
import { benchReport, giveReport, nativeFigures, reportFile } from './native_report.mjs';
import { onPage, saved, unbuilt } from './on_page.mjs';
import { fileOf, findLayers, measured, pinned, twoMarked } from './page_steps.mjs';

const STATES = {
  async 'before a model'() {},
  async 'with a model and all options open'(page) {
    await page.getByRole('button', { name: 'Digits' }).click();
    await page.getByRole('radio', { name: 'Static' }).check();
    for (const summary of await page.locator('details > summary').all()) await summary.click();
    const float = page.getByLabel('Leave in float', { exact: true });
    await float.fill('/conv1/Conv');
    await float.press('Enter');
    await page.getByRole('listbox', { name: 'Weights by layer' }).press('Home');
    await page.locator('.detail strong').waitFor();
  },
  async 'with a plan'(page) {
    await page.getByRole('button', { name: 'Digits' }).click();
    const plan = JSON.stringify(quantize('digits_cnn', { mode: 'weights' }).report.plan);
    await page.locator('.plan-picker input[type=file]').setInputFiles([fileOf('small.plan.json', Buffer.from(plan))]);
    await page.getByRole('heading', { name: 'Plan: small.plan.json' }).waitFor();
    for (const summary of await page.locator('details > summary').all()) await summary.click();
  },
  async 'where samples are missing'(page) {
    await page.locator('input[type=file]').first().setInputFiles([fileOf('mine.onnx', modelBytes('digits_cnn'))]);
    await page.getByRole('radio', { name: 'Static' }).check();
    await page.getByRole('button', { name: 'Add samples to quantize' }).waitFor();
  },
  async 'where something is wrong'(page) {
    await page.locator('input[type=file]').first().setInputFiles([fileOf('cut.onnx', modelBytes('gpt_char').subarray(0, 5000))]);
    await page.getByRole('alert').waitFor();
  },
  async 'at work'(page) {
    await page.getByRole('button', { name: 'Small GPT' }).click();
    await page.getByRole('button', { name: 'Quantize', exact: true }).click();
    await page.getByText(/^time/).first().waitFor();
  },
  async 'with a result'(page) {
    await page.getByRole('button', { name: 'Digits' }).click();
    await page.getByRole('button', { name: 'Quantize', exact: true }).click();
    await measured(page);
  },
  async 'with what a search found'(page) {
    await page.getByRole('button', { name: 'Digits' }).click();
    await page.getByRole('radio', { name: 'Automatic' }).check();
    await page.getByLabel('Time limit, in seconds', { exact: true }).fill('10');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await measured(page);
    for (const summary of await page.locator('.auto summary').all()) await summary.click();
  },
  async 'with layers, numbers and two runs side by side'(page) {
    await page.getByRole('button', { name: 'Digits' }).click();
    await page.getByRole('button', { name: 'Quantize', exact: true }).click();
    await measured(page);
    await pinned(page, 'Static');
    await findLayers(page);
    await page.locator('.layer-list .row-name').nth(2).click();
    await page.getByText('outside it:').waitFor();
    await twoMarked(page);
    for (const summary of await page.locator('.result summary, .runs summary').all()) await summary.click();
  },
  async 'with native figures'(page) {
    await page.getByRole('button', { name: 'Digits' }).click();
    await page.getByRole('button', { name: 'Quantize', exact: true }).click();
    await measured(page);
    await giveReport(page, fileOf('note.txt', Buffer.from('no report')));
    await page.getByRole('alert').waitFor();
    if (unbuilt) return;
    await giveReport(page, reportFile(await benchReport('digits_cnn', 'weights')));
    await nativeFigures(page).waitFor();
    for (const summary of await page.locator('.native summary').all()) await summary.click();
  },
  async 'in a report'(page) {
    await page.getByRole('button', { name: 'Digits' }).click();
    await page.getByRole('button', { name: 'Quantize', exact: true }).click();
    await measured(page);
    await findLayers(page);
    const { bytes } = await saved(page, 'Report');
    const report = await page.context().newPage();
    await report.setContent(bytes.toString());
    await report.getByText('Numbers').first().click();
    return report;
  },
};

for (const colorScheme of ['light', 'dark']) {
  for (const [state, reach] of Object.entries(STATES)) {
    const viewport = colorScheme === 'dark' ? { viewport: PHONE } : {};
    onPage(`nothing is in the way ${state}, ${colorScheme}`, { colorScheme, ...viewport }, async (page, { context }) => {
      // Of a state in a page of its own, that page.
      const shown = (await reach(page)) ?? page;
      assert.deepEqual(await violations(shown, context), []);
    });
  }
}
