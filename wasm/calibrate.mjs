// Runs samples through a model with onnxruntime-web, segment by segment, and has the core look at what flows between
// its nodes. Memory holds what is alive at the end of a segment, however many samples and values there are.

// Bytes alive at once, besides the weights.
const MEMORY_BUDGET = 16 * 2 ** 20;
// Samples may be this much larger than what was planned for before the plan is made anew.
const OVER_BUDGET = 1.25;

const ARRAYS = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, bool: Uint8Array, int8: Int8Array,
  uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array,
  int64: BigInt64Array, uint64: BigUint64Array,
};

/** What went wrong, as the core says it: `error` is that of its Failure. */
export class OctetError extends Error {
  constructor(error) {
    super(error.message);
    this.name = 'OctetError';
    this.error = error;
  }
}

function failure(code, exit_status, where, problem, next = '') {
  const message = [where && `${where}: `, problem, next && `; ${next}`].join('');
  return new OctetError({ code, where, problem, next, message, exit_status });
}

function checked(result) {
  if (result.error) throw new OctetError(result.error);
  return result;
}

// The runtime's own words, without the places of its sources.
function complaint(error) {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n')[0].replace(/\/\S+\.(cc|h):\d+ (\S+ )?/g, '').slice(0, 400);
}

function toRuntime(ort, name, { type, dims, data }) {
  const Elements = ARRAYS[type];
  if (!Elements) throw failure('unsupported', 5, `input '${name}'`, `is ${type}, which the runtime has no tensors for`);
  return new ort.Tensor(type, new Elements(data.slice().buffer), dims);
}

// Rejected when the signal says stop, even where next() hangs.
function nextOf(iterator, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal?.addEventListener('abort', stop);
    const forget = () => signal?.removeEventListener('abort', stop);
    Promise.resolve().then(() => iterator.next()).then(resolve, reject).finally(forget);
  });
}

async function* untilAborted(samples, signal) {
  const begin = samples?.[Symbol.asyncIterator] ?? samples?.[Symbol.iterator];
  if (!begin) throw failure('usage', 2, 'samples', 'are nothing that can be iterated over');
  const iterator = begin.call(samples);
  let ended = false;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { done, value } = await nextOf(iterator, signal);
      if (done) return void (ended = true);
      yield value;
    }
  } finally {
    // Not waited for: what hangs in next() would hang here too.
    if (!ended) Promise.resolve().then(() => iterator.return?.()).catch(() => {});
  }
}

class Run {
  constructor(ort, calibration, hooks) {
    this.ort = ort;
    this.calibration = calibration;
    this.hooks = hooks;
    this.budget = hooks.memoryBudget ?? MEMORY_BUDGET;
    this.options = {
      executionProviders: ['wasm'], logSeverityLevel: 3, ...hooks.sessionOptions,
      graphOptimizationLevel: 'disabled',  // it would do away with values
    };
    this.samples = 0;
    this.whole = false;  // no cuts: the segments did not run
    this.sizes = {};     // bytes that each value got at most
    this.segments = null;
    this.sessions = [];
  }

  // What inference says where segments meet can be wrong: the first sample that does not run through them is run
  // through the whole model.
  async take(sample) {
    const name = `sample ${this.samples + 1}`;
    let tooLarge;
    try {
      tooLarge = await this.through(sample, name);
    } catch (fault) {
      const again = this.samples === 0 && !this.whole && this.segments?.length > 1 && fault.error?.code === 'run';
      if (!again) throw fault;
      this.whole = true;
      checked(this.calibration.forget());
      await this.close();
      tooLarge = await this.through(sample, name);
    }
    this.samples = checked(this.calibration.end_sample()).samples;
    if (tooLarge && !this.whole) await this.cutFiner();
  }

  async through(sample, name) {
    const given = checked(this.calibration.begin_sample({ sample, name })).sample;
    if (!this.segments) await this.cut();
    const live = new Map(Object.entries(given).map(([key, value]) => [key, toRuntime(this.ort, key, value)]));
    let tooLarge = false;
    for (const [i, { inputs, outputs, observed, dropped }] of this.segments.entries()) {
      this.hooks.signal?.throwIfAborted();
      const feeds = Object.fromEntries(inputs.filter((key) => live.has(key)).map((key) => [key, live.get(key)]));
      const results = await this.complaining(name, 'does not run', () => this.sessions[i].run(feeds));
      for (const [key, tensor] of Object.entries(results)) live.set(key, tensor);
      tooLarge = this.measure(live, [...inputs, ...outputs]) > OVER_BUDGET * this.budget || tooLarge;
      for (const key of observed) {
        const tensor = live.get(key);
        if (tensor?.type in ARRAYS) checked(this.calibration.observe(key, tensor));
      }
      for (const key of dropped) live.delete(key);
      this.hooks.onProgress?.({
        stage: 'calibrate', done: this.samples + (i + 1) / this.segments.length, total: this.hooks.total ?? null,
      });
    }
    return tooLarge;
  }

  async cut(sizes = undefined) {
    const budget = this.whole ? undefined : this.budget;
    const { segments } = checked(this.calibration.plan_segments({ sizes, budget }));
    await this.close();
    this.segments = segments;
    for (const i of segments.keys()) {
      this.hooks.signal?.throwIfAborted();
      const { model, external, external_name: path } = checked(this.calibration.segment_model(i));
      const options = external ? { ...this.options, externalData: [{ path, data: external }] } : this.options;
      const open = () => this.ort.InferenceSession.create(model, options);
      this.sessions.push(await this.complaining('model', 'does not load', open));
    }
  }

  async cutFiner() {
    try {
      await this.cut(this.sizes);
    } catch (fault) {
      if (fault.error?.code !== 'run') throw fault;
      this.whole = true;
      await this.cut();
    }
  }

  // Bytes alive at the end of a segment; remembers how large each value got.
  measure(live, names) {
    let alive = 0;
    for (const name of names) {
      const bytes = live.get(name)?.data?.byteLength ?? 0;
      alive += bytes;
      this.sizes[name] = Math.max(this.sizes[name] ?? 0, bytes);
    }
    return alive;
  }

  async complaining(where, problem, work) {
    try {
      return await work();
    } catch (fault) {
      throw failure('run', 9, where, `${problem}: ${complaint(fault)}`);
    }
  }

  async close() {
    const sessions = this.sessions;
    this.sessions = [];
    this.segments = null;
    for (const session of sessions) await session.release();
  }
}

export async function calibrate(octet, ort, model, samples, options = {}, hooks = {}) {
  hooks.signal?.throwIfAborted();
  const source = model instanceof Uint8Array || typeof model?.read === 'function' ? { model } : model;
  const { calibration, taps } = checked(octet.start_calibration({ ...source, options, taps: hooks.taps }));
  const total = hooks.total ?? samples?.length ?? samples?.size;
  const run = new Run(ort, calibration, { ...hooks, total });
  try {
    for await (const sample of untilAborted(samples, hooks.signal)) await run.take(sample);
    return { ...checked(calibration.learned()), taps, segments: run.segments.length };
  } finally {
    await run.close();
    calibration.delete();
  }
}
