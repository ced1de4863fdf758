// Quantizes one model on the built page in every mode and times each: node time_variants.mjs '{"model": PATH, "calib":
// [PATH...], "eval": [PATH...], "modes": [MODE...]}', the page's reports as one JSON object by mode on standard output.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { ISOLATED, launch, openPage } from '../../tests/web/browser.mjs';
import { giveSamples, measured } from '../../tests/web/page_steps.mjs';

const job = JSON.parse(process.argv[2]);
const MODES = { dynamic: 'Dynamic', static: 'Static', weights: 'Weights only' };

async function reportOf(browser, mode) {
  const { page, close } = await openPage(browser, { headers: ISOLATED });
  page.setDefaultTimeout(900_000);
  try {
    await page.locator('input[type=file]').first().setInputFiles([job.model]);
    await page.getByRole('heading', { name: basename(job.model) }).waitFor();
    await page.getByRole('radio', { name: MODES[mode] }).check();
    if (mode === 'static') await giveSamples(page, 'Samples to learn ranges from', job.calib);
    await giveSamples(page, 'Samples to check on', job.eval);
    await page.getByRole('button', { name: 'Quantize', exact: true }).click();
    await measured(page);
    const arrives = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Report as JSON', exact: true }).click();
    return JSON.parse(readFileSync(await (await arrives).path()));
  } finally {
    await close();
  }
}

const browser = await launch(), reports = {};
for (const mode of job.modes) reports[mode] = await reportOf(browser, mode);
process.stdout.write(`${JSON.stringify(reports)}\n`);
await browser.close();
