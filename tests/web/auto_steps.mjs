// Steps of tests that search automatically.
import { area, measured } from './page_steps.mjs';

export const band = (page) => area(page, 'Search');
/** Candidates as the chart draws them. */
export const points = (page) => band(page).locator('[data-candidate]');
export const candidates = (page) => band(page).locator('table.candidates tbody tr');

/** Either `drop`, right answers lost, or `sqnr` is the budget. */
export async function begin(page, { sqnr = '25', drop, seconds = '15' } = {}) {
  await page.getByRole('radio', { name: 'Automatic' }).check();
  if (drop !== undefined) await page.getByLabel('Right answers lost, in %', { exact: true }).fill(drop);
  else await page.getByLabel('Lowest SQNR, in dB', { exact: true }).fill(sqnr);
  await page.getByLabel('Time limit, in seconds', { exact: true }).fill(seconds);
  await page.getByRole('button', { name: 'Search', exact: true }).click();
}

export async function search(page, model, budget) {
  await page.getByRole('button', { name: model }).click();
  await begin(page, budget);
}

export const searchAgain = (page) => page.getByRole('button', { name: 'Search', exact: true, disabled: false });

export async function settled(page) {
  await measured(page);
  await searchAgain(page).waitFor();
}
