// Times models beside the first one in Chromium, with one thread, by the npm package's own comparison: node
// time_models.mjs '{"page": FOLDER, "models": [PATH...], "data": [PATH...], "samples": [PATH...], "seconds": N}'
// The page is that of bundle_package.mjs, the data what the first model has beside it. For each of the others its
// comparison, or {"why": TEXT}, with "alone" where that is its own fault; "loads" says whether it loads and runs, null
// where that is not known.
import { ISOLATED, launch, openPage } from '../../tests/web/browser.mjs';

const job = JSON.parse(process.argv[2]);
const MOST_MS = 120_000; // of one comparison

/** In the page. `files` of the first model are its external data. */
async function compareThere({ seconds, most }) {
  const { compare } = window.octet;
  const [reference, candidate, ...beside] = document.querySelector('#models').files;
  const samples = { files: [...document.querySelector('#samples').files].map((blob) => ({ name: blob.name, blob })) };
  const files = Object.fromEntries(beside.map((file) => [file.name, file]));
  const original = { name: reference.name, model: reference, files };
  const measured = async (one, options) => {
    try {
      const signal = AbortSignal.timeout(most);
      return await compare(one, candidate, { samples, threads: [1], ...options }, { signal });
    } catch (fault) {
      if (fault.name === 'TimeoutError') return { why: `not done after ${most / 1000} s` };
      return { why: fault.error?.problem ?? String(fault) };
    }
  };
  const first = await measured(original, { seconds });
  if (!first.why) return { ...first, loads: true };
  // Whether the candidate is to blame is seen without the float model.
  const alone = await measured(candidate, { seconds: 0.1, runs: 1 });
  return { why: first.why, loads: !alone.why, alone: alone.why };
}

async function timed(browser, candidate) {
  const { page, close } = await openPage(browser, { folder: job.page, headers: ISOLATED });
  try {
    await page.waitForFunction(() => window.octet);
    await page.locator('#models').setInputFiles([job.models[0], candidate, ...job.data]);
    await page.locator('#samples').setInputFiles(job.samples);
    return await page.evaluate(compareThere, { seconds: job.seconds, most: MOST_MS });
  } catch (fault) {
    return { why: String(fault.message).split('\n')[0], loads: null };
  } finally {
    await close();
  }
}

const browser = await launch(), results = [];
for (const candidate of job.models.slice(1)) results.push(await timed(browser, candidate));
process.stdout.write(`${JSON.stringify(results)}\n`);
await browser.close();
