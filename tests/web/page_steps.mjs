// Steps that several tests and pictures of the page take.

/** A file as pickers take it, out of bytes. */
export const fileOf = (name, bytes) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(bytes) });

export const area = (page, name) => page.getByRole('region', { name });

/** Gives files to one of the areas that take samples. */
export const giveSamples = (page, name, files) => area(page, name).locator('input[type=file]').first().setInputFiles(files);

/** What a file manager does: a drop, or a paste, with these files; on what `place` selects. */
export async function hand(page, kind, files, place = 'body') {
  await page.evaluate(([how, all, selector]) => {
    const transfer = new DataTransfer();
    for (const { name, base64 } of all) {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      transfer.items.add(new File([bytes], name));
    }
    const event = how === 'paste'
      ? new ClipboardEvent('paste', { clipboardData: transfer, bubbles: true, cancelable: true })
      : new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true });
    document.querySelector(selector).dispatchEvent(event);
  }, [kind, files.map(({ name, buffer }) => ({ name, base64: buffer.toString('base64') })), place]);
}

/** Rows of the table of runs. */
export const rows = (page) =>
  page.getByRole('table', { name: 'Runs' }).getByRole('row').filter({ has: page.getByRole('checkbox') });

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
