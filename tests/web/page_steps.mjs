// Steps that several tests and pictures of the page take.

export const measured = (page) => page.getByText('Measured with').waitFor();

export async function quantizeIn(page, mode) {
  await page.getByText(mode, { exact: true }).first().click();
  await page.getByRole('button', { name: 'Quantize', exact: true }).click();
}

/** Pins the run that is there and makes another in `mode`, which begins by itself. */
export async function pinned(page, mode) {
  await page.getByRole('button', { name: 'Pin', exact: true }).first().click();
  await page.getByText(mode, { exact: true }).first().click();
  await page.locator('.command code', { hasText: `--mode ${mode.toLowerCase()}` }).waitFor();
  await measured(page);
}

export async function findLayers(page) {
  await page.getByRole('button', { name: 'Find the layers that lose' }).click();
  await page.getByRole('region', { name: 'Layers and what each loses' }).waitFor();
}

/** Marks the two newest runs, which compares them. */
export async function twoMarked(page) {
  const boxes = page.getByRole('table', { name: 'Runs' }).getByRole('checkbox');
  for (const at of [0, 1]) await boxes.nth(at).check();
  await page.getByRole('region', { name: 'A and B side by side' }).waitFor();
}
