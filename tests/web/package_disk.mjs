// Outputs of the package on disk: package.test.mjs runs these.
import assert from 'node:assert/strict';

export function testDisk(inPage, helpers) {
  inPage('outputs go to disk, under their name once they are whole, until discarded', {}, async (evaluate) => {
    const seen = await evaluate(async () => {
      const { quantize, prepare, discard, inspect } = window.octet, file = await window.modelFile('gpt_char');
      const options = { mode: 'weights', external_data: true, output: 'small.onnx' };
      const held = await quantize(file, options), onDisk = await quantize(file, { ...options, store: 'disk' });
      const { output } = onDisk, [name] = Object.keys(output.files);
      const same = async (a, b) => (await window.bytesOf(a)).join() === (await window.bytesOf(b)).join();
      const seen = {
        names: [output.name, name], are: [output.model instanceof File, output.files[name] instanceof File],
        same: [await same(held.output.model, output.model), await same(held.output.files[name], output.files[name])],
        files: (await window.filesOnDisk()).map((path) => path.replaceAll(/[-0-9a-f]{36}\//g, '')).sort(),
        nodes: (await inspect(output)).report.model.nodes === (await inspect(held.output)).report.model.nodes,
      };
      const prepared = await prepare(file, { store: 'disk' });
      seen.more = (await window.filesOnDisk()).length;
      await discard(prepared.output);
      await discard(output);
      await discard(held.output);
      seen.after = await window.filesOnDisk();
      seen.unreadable = (await window.failureOf(output.model.arrayBuffer())).name;
      return seen;
    });
    assert.deepEqual(seen, {
      names: ['small.onnx', 'small.onnx.data'], are: [true, true], same: [true, true], nodes: true, more: 3, after: [],
      files: ['octet-outputs/external', 'octet-outputs/model'], unreadable: 'NotFoundError',
    });
  });

  inPage('nothing stays on disk of work that ended early, nor of pages that are gone', {}, async (evaluate, page) => {
    const { aborted, failed, left } = await evaluate(async () => {
      const { quantize } = window.octet, file = await window.modelFile('gpt_char'), controller = new AbortController();
      const onProgress = ({ stage }) => stage === 'write' && controller.abort(new Error('enough'));
      const hooks = { onProgress, signal: controller.signal };
      const aborted = await window.failureOf(quantize(file, { store: 'disk' }, hooks));
      const failed = await window.failureOf(quantize(file.slice(0, 400_000), { store: 'disk' }));
      return { aborted: aborted.message, failed: failed.error.code, left: await window.untilEmpty() };
    });
    assert.deepEqual([aborted, failed, left], ['enough', 'malformed', []]);
    const files = await evaluate(async () => {
      await window.octet.quantize(await window.modelFile('gpt_char'), { store: 'disk' });
      return window.filesOnDisk();
    });
    assert.equal(files.length, 1);
    await page.reload();
    await helpers(page);
    assert.deepEqual(await evaluate(() => (new window.octet.Octet(), window.untilEmpty())), []);
  });

  inPage('a full disk is told in words', {}, async (evaluate, page) => {
    const session = await page.context().newCDPSession(page);
    const origin = await evaluate(() => location.origin);
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 100_000 });
    const { error, left } = await evaluate(async () => {
      const file = await window.modelFile('gpt_char');
      const { error } = await window.failureOf(window.octet.quantize(file, { store: 'disk' }));
      return { error, left: await window.untilEmpty() };
    });
    assert.equal(error.code, 'write');
    assert.match(error.message, /no room for 1 MB; free some, or use store/);
    assert.deepEqual(left, []);
  });
}
