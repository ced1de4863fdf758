// Outputs written piece by piece to whoever wants them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorOf, modelBytes, octet, quantize } from './octet_runs.mjs';

// Keeps what it is given, part by part.
function collector() {
  const parts = {};
  const sink = (part, size) => {
    const taken = (parts[part] = { size, pieces: [] });
    return { write: (bytes) => taken.pieces.push(Buffer.from(bytes)) };
  };
  return { parts, sink };
}

for (const external_data of [false, true]) {
  test(`a sink takes what memory would${external_data ? ', external data apart' : ''}`, () => {
    const options = { mode: 'weights', external_data };
    const held = quantize('gpt_char', options), { parts, sink } = collector();
    const { report, ...written } = quantize('gpt_char', options, { sink });
    assert.deepEqual(report, held.report);
    assert.deepEqual(Object.keys(parts), external_data ? ['model', 'external'] : ['model']);
    for (const [part, { size, pieces }] of Object.entries(parts)) {
      assert.ok(Buffer.concat(pieces).equals(held[part]), part);
      assert.equal(size, held[part].byteLength);
      assert.equal(written[`${part}_bytes`], size);
      assert.ok(!(part in written), 'bytes are not there twice');
    }
    assert.equal(written.external_name, held.external_name);
  });
}

test('a sink may leave a part to memory', () => {
  const { parts, sink } = collector(), options = { mode: 'weights', external_data: true };
  const written = quantize('gpt_char', options, { sink: (part, size) => (part === 'external' ? sink(part, size) : null) });
  assert.ok(written.model.byteLength > 0);
  assert.equal(written.external_bytes, Buffer.concat(parts.external.pieces).length);
});

test('prepared models go there too', () => {
  const { parts, sink } = collector(), model = modelBytes('digits_cnn');
  const held = octet.prepare_model({ model });
  assert.equal(octet.prepare_model({ model, sink }).model, undefined);
  assert.ok(Buffer.concat(parts.model.pieces).equals(held.model));
});

test('what a writer throws is passed on as it is, and nothing is held', () => {
  const full = new Error('the disk is full');
  const sink = () => ({ write: () => { throw full; } });
  const fail = () => assert.throws(() => octet.quantize_model({ model: modelBytes('gpt_char'), sink }), full);
  fail();
  const before = octet.allocated_bytes(), handles = octet.count_emval_handles();
  for (let i = 0; i < 5; ++i) fail();
  assert.equal(octet.allocated_bytes(), before);
  assert.equal(octet.count_emval_handles(), handles);
});

test('no writer is one typed error', () => {
  const { code, where } = errorOf({ model: modelBytes('digits_cnn'), sink: () => ({}) });
  assert.deepEqual([code, where], ['usage', 'sink']);
});
