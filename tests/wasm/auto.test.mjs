// The automatic search, with onnxruntime-web: what it chooses keeps the budget, what was measured is not measured again,
// and stopping it leaves the best so far.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { found, timesOf } from './auto_runs.mjs';
import { rangesOf } from './calibrated.mjs';
import { errorOf, modelBytes, octet, quantize } from './octet_runs.mjs';
import { samplesOf } from './read_npz.mjs';
import { taken } from './search_runs.mjs';
import { outputsOf } from './web_runtime.mjs';

async function worstSqnr(name, model) {
  const samples = samplesOf(name, 'calib');
  const references = await outputsOf(modelBytes(name), samples), candidates = await outputsOf(model, samples);
  const runs = references.map((reference, i) => ({ reference, candidate: candidates[i] }));
  const sizes = { input_bytes: modelBytes(name).length, output_bytes: model.length };
  return octet.judge_runs({ runs, reference_ms: [], candidate_ms: [], synthetic: false, ...sizes }).worst_sqnr_db;
}

const measures = (asked) => asked.filter(({ ask }) => ask === 'measure').length;

for (const name of ['digits_cnn', 'gpt_char']) {
  test(`${name}: the chosen plan keeps the budget, and makes the bytes that were measured`, async () => {
    const { asked, state, plans } = await found(name, { budget: { min_sqnr: 25 } });
    assert.ok(asked.some(({ ask }) => ask === 'calibrate'));
    const chosen = state.candidates[state.chosen];
    assert.ok(chosen.chosen && chosen.front && chosen.runs && chosen.confirmed);
    assert.ok(chosen.sqnr_db >= 25, `${chosen.sqnr_db} dB`);
    assert.ok(chosen.sqnr_interval_db[0] <= chosen.sqnr_db && chosen.sqnr_db <= chosen.sqnr_interval_db[1]);
    const { model } = quantize(name, { plan: plans[state.chosen] });
    assert.equal(model.length, chosen.bytes);
    const measured = await worstSqnr(name, model);
    assert.ok(Math.abs(measured - chosen.sqnr_db) < 0.06, `${measured}, ${chosen.sqnr_db} dB`);
    assert.match(state.account[0], /^chosen: /);
    assert.equal(state.unmet, '');
    assert.equal(state.ended_early, null);
    assert.equal(state.candidates.filter((one) => one.chosen).length, 1);
  });
}

test('choices tell for every floor what would be chosen', async () => {
  const { state } = await found('digits_cnn');
  const { candidates, choices, chosen } = state;
  const at = (db) => choices.find(({ up_to }) => db <= up_to)?.candidate;
  assert.equal(at(25), chosen);
  for (const [i, { up_to, candidate }] of choices.entries()) {
    if (i > 0) assert.ok(up_to > choices[i - 1].up_to);
    const { is_float, sqnr_db } = candidates[candidate];
    assert.ok(is_float || sqnr_db >= up_to, `${sqnr_db}, ${up_to} dB`);
  }
  assert.ok(candidates[at(300)].is_float, 'beyond all, float');
});

test('a floor that all integers miss moves nodes out of them, and says which', async () => {
  const first = await found('gpt_char', { budget: { min_sqnr: 20 } });
  const whole = first.state.candidates.find(({ what }) => what === 'static');
  const { state, plans } = await found('gpt_char', { budget: { min_sqnr: whole.sqnr_db + 3 } });
  const chosen = state.candidates[state.chosen];
  assert.ok(chosen.sqnr_db >= whole.sqnr_db + 3 || chosen.is_float);
  assert.ok(state.sensitivities.length > 0);
  const lost = state.sensitivities.map(({ alone_db }) => alone_db);
  assert.deepEqual(lost, [...lost].sort((a, b) => a - b), 'the worst first');
  const nodes = new Set(plans[0].nodes.map(({ node }) => node));
  for (const { nodes: names } of state.sensitivities) assert.ok(names.every((node) => nodes.has(node)), names.join());
  for (const node of chosen.moved) assert.ok(state.account.some((line) => line.includes(node)), node);
});

test('a log spares measuring again, but not in another context', async () => {
  const first = await found('digits_cnn', { context: 'here' });
  const again = await found('digits_cnn', { context: 'here', log: first.log });
  assert.ok(measures(first.asked) > 3);
  assert.equal(measures(again.asked), 0);
  assert.equal(again.state.candidates[again.state.chosen].what, first.state.candidates[first.state.chosen].what);
  assert.equal(again.log, first.log);
  const model = modelBytes('digits_cnn');
  const refused = (log, context) => errorOf({ model, log, context }, octet.start_auto);
  assert.match(refused(first.log, 'elsewhere').problem, /other samples or settings/);
  assert.equal(refused('{}').code, 'malformed');
});

test('stopping leaves the best so far; before anything was measured there is none', async () => {
  const { state, asked } = await found('digits_cnn', {}, { stopAt: (questions) => measures(questions) === 3 });
  assert.equal(measures(asked), 3);
  assert.equal(asked.at(-1).ask, 'nothing');
  assert.equal(state.ended_early, 'it was stopped');
  assert.ok(state.account.includes('ended early: it was stopped'));
  assert.equal(state.tried, 2);
  const none = await found('digits_cnn', {}, { stopAt: () => true });
  assert.deepEqual([none.state.candidates, none.state.chosen], [[], null]);
  assert.equal(none.state.ended_early, 'it was stopped');
});

test('right answers lost are the budget where there are labels, and are needed where they are asked for', async () => {
  // What the float model says is right: each one that a candidate says otherwise is lost.
  const samples = samplesOf('digits_cnn', 'calib'), references = await outputsOf(modelBytes('digits_cnn'), samples);
  const labels = JSON.stringify(references.map(({ logits: { data, dims: [rows, width] } }) => {
    const values = new Float32Array(data.slice().buffer);
    return Array.from({ length: rows }, (_, row) => {
      const scores = values.subarray(row * width, (row + 1) * width);
      return scores.indexOf(Math.max(...scores));
    });
  }));
  const request = { labels, budget: { max_drop: 0.2 } };
  const { state } = await found('digits_cnn', request), { candidates, chosen, choices_by_drop } = state;
  for (const { runs, drop } of candidates) if (runs) assert.ok(drop >= 0 && drop < 20, `${drop} %`);
  assert.ok(candidates[chosen].drop <= 0.2 || candidates[chosen].is_float);
  assert.match(state.account[0], /0\.20 % of right answers lost/);
  assert.equal(choices_by_drop[0].from, 0);
  for (const { from, candidate } of choices_by_drop) {
    const { is_float, drop } = candidates[candidate];
    assert.ok(is_float || drop <= from, `${drop} %, ${from} %`);
  }
  assert.equal((await found('digits_cnn', { labels })).state.choices_by_drop, undefined, 'by decibels');

  await assert.rejects(found('digits_cnn', { budget: { max_drop: 1 } }), /there are none for these samples/);
  await assert.rejects(found('digits_cnn', { ...request, labels: '{}' }), /labels\.json is neither a list nor/);
  await assert.rejects(found('digits_cnn', { ...request, labels: '[[77], [1]]' }), /labels\.json fits no output/);
  const model = modelBytes('digits_cnn'), refused = (budget) => errorOf({ model, labels, budget }, octet.start_auto).problem;
  assert.match(refused({ max_drop: 101 }), /from 0 to 100/);
  assert.match(refused({ max_drop: -1 }), /from 0 to 100/);
  assert.match(refused({ max_drop: 1, min_sqnr: 25 }), /one budget/);
});

test('what does not run is not chosen, and why is told', async () => {
  const answer = ({ stage }) => (stage.includes('static') ? { error: 'no such operator' } : undefined);
  const { state } = await found('digits_cnn', {}, { answer });
  const broken = state.candidates.find(({ what }) => what === 'static');
  assert.deepEqual([broken.runs, broken.error, broken.sqnr_db], [false, 'no such operator', -200]);
  assert.notEqual(state.candidates[state.chosen].what, 'static');
});

test('what no candidate keeps is said: nothing is chosen', async () => {
  const { state } = await found('digits_cnn', { budget: { max_bytes: 10, seconds: 60 } });
  assert.equal(state.chosen, null);
  assert.match(state.unmet, /smallest .* MB/);
  assert.match(state.account[0], /^nothing chosen: /);
});

test('ranges that are known spare calibrating the model as it is', async () => {
  const ranges = await rangesOf('digits_cnn');
  const stopAt = (questions) => measures(questions) === 5;
  const calibrations = async (request) =>
    (await found('digits_cnn', request, { stopAt })).asked.filter(({ ask }) => ask === 'calibrate').length;
  assert.deepEqual([await calibrations({}), await calibrations({ ranges })], [1, 0]);
});

test('calls out of order and what is no budget are refused', () => {
  const model = modelBytes('digits_cnn');
  const { search } = taken(octet.start_auto({ model }));
  const refused = (call, request) => errorOf(request, (given) => search[call](given)).problem;
  try {
    assert.match(refused('answer', {}), /nothing was asked/);
    assert.match(errorOf(undefined, () => search.candidate_model()).problem, /not asked for/);
    assert.match(refused('plan', 0), /no such candidate/);
    let first = search.next();
    for (; first.ask === 'measure'; first = search.next()) taken(search.answer({ error: 'it does not load' }));
    const again = search.next();
    assert.deepEqual([first.ask, again.taps], ['calibrate', first.taps]);
    assert.match(refused('add_outputs', {}), /not asked for/);
    assert.match(refused('answer', {}), /not one sample/);
    first.calibration.delete();
    again.calibration.delete();
  } finally {
    search.delete();
  }
  const begin = (request) => errorOf({ model, ...request }, octet.start_auto);
  for (const key of ['max_bytes', 'min_speedup', 'seconds'])
    for (const value of [0, -1, NaN, '3']) assert.match(begin({ budget: { [key]: value } }).message, new RegExp(`${key}.*above 0`));
  assert.match(begin({ budget: { min_sqnr: Infinity } }).message, /min_sqnr.*decibels/);
  assert.match(begin({ options: { mode: 'static' } }).message, /mode.*decides itself/);
  assert.match(begin({ options: { unheard_of: 1 } }).message, /unheard_of/);
});

test('a measurement needs outputs, and one of speed needs times', async () => {
  const ranges = await rangesOf('digits_cnn');
  const { search } = taken(octet.start_auto({ model: modelBytes('digits_cnn'), ranges }));
  const refused = (request) => errorOf(request, (given) => search.answer(given)).message;
  try {
    const { effort, stage } = taken(search.next());
    assert.equal(effort, 'speed');
    assert.match(refused(timesOf(stage)), /no outputs/);
    taken(search.add_outputs({ reference: {}, candidate: {} }));
    assert.match(refused({}), /reference_ms.*times/);
    assert.match(refused({ reference_ms: [1], candidate_ms: [] }), /candidate_ms.*times/);
    taken(search.answer({ reference_ms: [1], candidate_ms: [1] }));
  } finally {
    search.delete();
  }
});

test('a search leaves no memory behind', async () => {
  const once = () => found('digits_cnn', {}, { stopAt: (questions) => measures(questions) === 4 });
  await once();
  const before = octet.allocated_bytes();
  await once();
  assert.equal(octet.allocated_bytes(), before);
});
