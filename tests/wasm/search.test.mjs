// Quantization that measures as it goes, with onnxruntime-web: every step runs to its end and does what it says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rangesOf } from './calibrated.mjs';
import { errorOf, modelBytes, octet, quantize, sha256 } from './octet_runs.mjs';
import { samplesOf } from './read_npz.mjs';
import { searched, taken } from './search_runs.mjs';
import { outputsOf } from './web_runtime.mjs';

async function worstSqnr(name, model) {
  const samples = samplesOf(name, 'calib');
  const references = await outputsOf(modelBytes(name), samples), candidates = await outputsOf(model, samples);
  const runs = references.map((reference, i) => ({ reference, candidate: candidates[i] }));
  const sizes = { input_bytes: modelBytes(name).length, output_bytes: model.length };
  return octet.judge_runs({ runs, reference_ms: [], candidate_ms: [], synthetic: false, ...sizes }).worst_sqnr_db;
}

const plain = async (name) => quantize(name, {}, { ranges: await rangesOf(name) }).model;
const near = (a, b) => assert.ok(Math.abs(a - b) < 0.06, `${a}, ${b} dB`);

// What the plan says of a step, [before, after] in dB, and whether it was kept.
function told(report, step) {
  const note = report.plan.notes.find((line) => line.startsWith(step));
  const found = /: (-?[\d.]+) dB → (-?[\d.]+) dB, (kept|not used)/.exec(note);
  return found ? { note, before: Number(found[1]), after: Number(found[2]), kept: found[3] === 'kept' } : { note };
}

const STEPS = [
  ['digits_cnn', { equalize: true }, 'equalize'],
  ['digits_cnn', { smooth_quant: 0.5 }, 'smooth-quant 0.5'],
  ['digits_cnn', { bias_correction: true }, 'bias-correction'],
  ['gpt_char', { mode: 'static', smooth_quant: 0.5 }, 'smooth-quant 0.5'],
];

for (const [name, options, step] of STEPS) {
  test(`${name} ${JSON.stringify(options)}: kept where it helps, and only there`, async () => {
    const { asked, finished } = await searched(name, options);
    assert.equal(asked.at(-1).ask, 'finish');
    assert.ok(asked.some(({ ask }) => ask === 'calibrate'));
    const { note, before, after, kept } = told(finished.report, step);
    assert.ok(note, 'nothing is said of it');
    if (before === undefined) {
      assert.match(note, /nothing to do/);
      assert.equal(sha256(finished.model), sha256(await plain(name)));
      return;
    }
    assert.ok(asked.some(({ ask }) => ask === 'check'));
    assert.equal(kept, after > before);
    near(await worstSqnr(name, await plain(name)), before);
    near(await worstSqnr(name, finished.model), kept ? after : before);
    near(finished.sqnr_db, kept ? after : before);
    if (!kept) assert.equal(sha256(finished.model), sha256(await plain(name)));
  });
}

test('correcting biases helps the digits', async () => {
  const ranges = await rangesOf('digits_cnn');
  const { asked, finished } = await searched('digits_cnn', { bias_correction: true }, { ranges });
  assert.ok(told(finished.report, 'bias-correction').kept);
  const observed = asked.filter(({ ask }) => ask === 'observe');
  assert.equal(asked.filter(({ ask }) => ask === 'calibrate').length, 0, 'ranges were given');
  // One run of the float model, then one for each product.
  assert.ok(observed.length > 4, `${observed.length}`);
  assert.ok(observed.every(({ stage }) => stage === 'correcting biases'));
  assert.ok(finished.report.plan.corrections.length > 3);
});

test('all steps together, one after the other', async () => {
  const options = { equalize: true, smooth_quant: 0.5, bias_correction: true };
  const { finished } = await searched('digits_cnn', options);
  for (const step of ['equalize', 'smooth', 'bias']) assert.ok(told(finished.report, step).note, step);
  assert.ok(finished.sqnr_db >= await worstSqnr('digits_cnn', await plain('digits_cnn')));
});

test('a floor above what the plain plan reaches is held', async () => {
  const first = await worstSqnr('digits_cnn', await plain('digits_cnn')), min_sqnr = first + 6;
  const { asked, finished } = await searched('digits_cnn', { mode: 'static', min_sqnr });
  assert.equal(finished.reached, true);
  assert.ok(finished.sqnr_db >= min_sqnr, `${finished.sqnr_db} dB`);
  near(await worstSqnr('digits_cnn', finished.model), finished.sqnr_db);
  assert.ok(finished.changed.length > 0);
  const { nodes } = finished.report.plan;
  for (const name of finished.changed) assert.notEqual(nodes.find(({ node }) => node === name).action, 'static');
  assert.ok(nodes.some(({ action }) => action === 'static'), 'not everything had to go');
  const ranking = asked.filter(({ stage }) => stage === 'finding the nodes that hurt');
  assert.deepEqual(ranking.map(({ done }) => done), [...ranking.keys()]);
  assert.equal(ranking.length, ranking[0].total);
});

test('without samples of calibration too: dynamic mode has floors', async () => {
  const first = quantize('gpt_char', { mode: 'dynamic' });
  const min_sqnr = await worstSqnr('gpt_char', first.model) + 3;
  const { asked, finished } = await searched('gpt_char', { mode: 'dynamic', min_sqnr });
  assert.ok(asked.every(({ ask }) => ask === 'check' || ask === 'finish'));
  assert.equal(finished.reached, true);
  assert.ok(finished.model.length > first.model.length);
});

test('what does not run goes back from integers; what never runs is told', async () => {
  const ranges = await rangesOf('digits_cnn');
  const once = (asked) => (asked.length === 1 ? 'no such operator' : undefined);
  const { finished } = await searched('digits_cnn', { min_sqnr: 20 }, { ranges, check: once });
  assert.equal(finished.reached, true);
  assert.ok(finished.report.plan.nodes.every(({ action }) => action !== 'static'));
  near(await worstSqnr('digits_cnn', finished.model), finished.sqnr_db);
  const never = await searched('digits_cnn', { min_sqnr: 20 }, { ranges, check: () => 'no such operator' });
  assert.equal(never.finished.reached, false);
  assert.equal(never.finished.sqnr_db, -200);
});

test('what cannot be told changes nothing', () => {
  const { search } = taken(octet.start_search({ model: modelBytes('digits_cnn'), options: { min_sqnr: 200 } }));
  try {
    assert.equal(taken(search.next()).ask, 'check');
    taken(search.answer({}));
    assert.equal(taken(search.next()).ask, 'finish');
    const { model, reached, sqnr_db, changed } = taken(search.finish({}));
    assert.deepEqual({ reached, sqnr_db, changed }, { reached: null, sqnr_db: null, changed: [] });
    assert.equal(sha256(model), sha256(quantize('digits_cnn').model));
  } finally {
    search.delete();
  }
});

test('without steps there is one calibration at most, and the result is that of quantize_model', async () => {
  const { asked, finished } = await searched('digits_cnn', { mode: 'static' });
  assert.deepEqual(asked.map(({ ask }) => ask), ['calibrate', 'finish']);
  assert.equal(sha256(finished.model), sha256(await plain('digits_cnn')));
  assert.deepEqual(finished.changed, []);
});

test('calls out of order are refused, and a question stands until it is answered', () => {
  const { search } = taken(octet.start_search({ model: modelBytes('digits_cnn'), options: { bias_correction: true } }));
  const refused = (call, request) => errorOf(request, (given) => search[call](given)).problem;
  try {
    assert.match(refused('answer', {}), /nothing was asked/);
    assert.match(refused('finish', {}), /not at its end/);
    const [first, again] = [search.next(), search.next()];
    assert.equal(first.ask, 'calibrate');
    assert.deepEqual(again.taps, first.taps);
    assert.match(errorOf(undefined, () => search.check_model()).problem, /not asked for/);
    assert.match(refused('add_outputs', { reference: {}, candidate: {} }), /not asked for/);
    assert.match(refused('answer', {}), /not one sample/);
    first.calibration.delete();
    again.calibration.delete();
  } finally {
    search.delete();
  }
});

test('options that take runs go to a search, and what does not go together is refused', async () => {
  const model = modelBytes('digits_cnn');
  for (const [key, value] of Object.entries({ equalize: true, smooth_quant: 0.5, bias_correction: true, min_sqnr: 10 }))
    assert.match(errorOf({ model, options: { mode: 'static', [key]: value } }).message, new RegExp(`${key}.*search`));
  const begin = (request) => errorOf({ model, ...request }, octet.start_search);
  assert.equal(begin({ options: { mode: 'dynamic', bias_correction: true } }).code, 'usage');
  assert.equal(begin({ options: { smooth_quant: 2 } }).where, 'option smooth_quant');
  assert.match(begin({ ranges: await rangesOf('gpt_char') }).problem, /another model/);
  const { plan } = quantize('digits_cnn', {}, { ranges: await rangesOf('digits_cnn') }).report;
  assert.equal(begin({ options: { plan, equalize: true } }).where, 'option plan');
});

test('a search gives back all of its memory', async () => {
  const samples = samplesOf('digits_cnn', 'calib').slice(0, 2), ranges = await rangesOf('digits_cnn');
  const once = () => searched('digits_cnn', { equalize: true, min_sqnr: 45 }, { samples, ranges });
  await once();
  const before = octet.allocated_bytes();
  await once();
  assert.equal(octet.allocated_bytes(), before);
});
