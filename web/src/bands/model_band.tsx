// What the model is and where its bytes are, or the place to drop one.
import type { Report, Value } from 'octet-wasm';
import { BUNDLED } from '../bundled';
import { bytesText, countText, percentText, plural } from '../format';
import { close, inspected, loaded, open, openBundled, problem } from '../state/model';
import { planned } from '../state/plan';
import { onPage } from '../weights';
import { Ignored } from './choices_band';
import { OfflineNote } from './offline_note';
import { Picker } from './picker';
import { Problem } from './problem';
import { WeightStrip } from './weight_strip';

function Empty() {
  return (
    <section class="band empty" aria-labelledby="start">
      <h1 id="start">Quantize an ONNX model here. It never leaves this computer.</h1>
      <div class="drop">
        <p>Drop a model anywhere on this page, or paste it, with its external data if it has any</p>
        <Picker label="Choose a file" kind="primary" onPick={(given) => void open(given)} />
      </div>
      <div class="cards" role="group" aria-label="Models to try">
        <p>or try one of these:</p>
        {BUNDLED.map((bundled) => (
          <button key={bundled.file} type="button" class="card" onClick={() => void openBundled(bundled)}>
            <strong>{bundled.title}</strong>
            <span class="figure">{bytesText(bundled.bytes)}</span>
            <small>{bundled.what}</small>
          </button>
        ))}
      </div>
      <OfflineNote />
      <Ignored />
    </section>
  );
}

const valueText = ({ name, type, shape }: Value) => `${name}: ${type.toLowerCase()} ${shape}`;

function Values({ word, values }: { word: string; values: Value[] }) {
  return <div class="wide"><dt>{plural(values.length, word)}</dt><dd>{values.map(valueText).join(' · ')}</dd></div>;
}

function Facts({ model }: { model: Report['model'] }) {
  const opset = Object.entries(model.opsets).map(([domain, at]) => (domain === 'ai.onnx' ? at : `${domain} ${at}`));
  const operators = Object.entries(model.operators).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return (
    <dl class="facts">
      <div><dt>Size</dt><dd>{bytesText(model.file_bytes)}</dd></div>
      <div><dt>Parameters</dt><dd>{countText(model.parameters)}</dd></div>
      <div><dt>Nodes</dt><dd>{model.nodes.toLocaleString('en')}</dd></div>
      <div><dt>Opset</dt><dd>{opset.join(', ')}</dd></div>
      {model.producer && <div><dt>Made by</dt><dd>{model.producer}</dd></div>}
      <Values word="input" values={model.inputs} />
      <Values word="output" values={model.outputs} />
      <div class="wide">
        <dt>{plural(operators.length, 'operator')}</dt>
        <dd>{operators.map(([name, count]) => `${count} ${name}`).join(' · ')}</dd>
      </div>
    </dl>
  );
}

interface Reason {
  what: string;
  why: string;
  /** Bytes of weights, to sort by. */
  bytes: number;
}

const VERBS = {
  static: 'in integers', dynamic: 'in integers', weights: 'stored in integers', keep: 'left in float',
} as const;

// Nodes with weights by what becomes of them and why, the heaviest first.
function reasonsOf({ plan, sizes }: Report): Reason[] {
  const size = new Map(plan.tensors.map(({ tensor, bytes }) => [tensor, bytes]));
  const nodes = new Map<string, Reason & { count: number; op: string; verb: string }>();
  for (const { op, action, why, weights = [] } of plan.nodes) {
    if (action === 'keep' && weights.length === 0) continue;
    const key = JSON.stringify([op, action, why]);
    const found = nodes.get(key) ?? { what: '', why, bytes: 0, count: 0, op, verb: VERBS[action] };
    found.count += 1;
    found.bytes += weights.reduce((sum, name) => sum + (size.get(name) ?? 0), 0);
    nodes.set(key, found);
  }
  const left = new Map<string, { bytes: number; count: number }>();
  for (const { bytes, why } of sizes.left_float) {
    const found = left.get(why) ?? { bytes: 0, count: 0 };
    left.set(why, { bytes: found.bytes + bytes, count: found.count + 1 });
  }
  const quantized = [...nodes.values()].map((one) => ({ ...one, what: `${one.count} × ${one.op} ${one.verb}` }));
  const kept = [...left].map(([why, { bytes, count }]) => (
    { what: `${bytesText(bytes)} in ${plural(count, 'tensor')} left in float`, why, bytes: 0 }
  ));
  return [...quantized.sort((a, b) => b.bytes - a.bytes), ...kept];
}

function Outlook({ report }: { report: Report }) {
  const { input_bytes, output_bytes, float_weight_bytes, weights_in_8_bits_bytes } = report.sizes;
  const share = float_weight_bytes > 0 ? weights_in_8_bits_bytes / float_weight_bytes : 0;
  return (
    <div class="outlook">
      <h2>
        {bytesText(input_bytes)} would become {bytesText(output_bytes)}, {percentText(share)} of its weights in fewer bits
      </h2>
      <WeightStrip report={report} />
      <details class="rest">
        <summary>What can be quantized, and what stands in the way</summary>
        <ul class="reasons">
          {reasonsOf(report).map(({ what, why }) => <li key={`${what} ${why}`}><strong>{what}</strong>: {onPage(why)}</li>)}
          {report.plan.notes.map((note) => <li key={note}>{note}</li>)}
        </ul>
      </details>
    </div>
  );
}

export function ModelBand() {
  if (!loaded.value) {
    return (
      <>
        <Empty />
        {problem.value && <Problem error={problem.value} />}
      </>
    );
  }
  const model = inspected.value?.model;
  return (
    <section class="band" aria-labelledby="model">
      <div class="title">
        <h1 id="model">{loaded.value.name}</h1>
        <button type="button" class="quiet" onClick={close}>Another model</button>
      </div>
      {model && <Facts model={model} />}
      {model?.quantized_already && (
        <p class="note">This model holds integer operators: it is quantized already, at least in part.</p>
      )}
      {planned.value && <Outlook report={planned.value} />}
      {problem.value && !model && (
        <>
          <Problem error={problem.value} />
          {!problem.value.missing && (
            <p class="again">
              <Picker label="Choose another file" kind="primary" onPick={(given) => void open(given)} />
            </p>
          )}
        </>
      )}
    </section>
  );
}
