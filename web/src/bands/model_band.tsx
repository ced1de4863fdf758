// What the model is, or the place to drop one.
import { useRef } from 'preact/hooks';
import type { Report, Value } from 'octet-core';
import { bytesText, countText, plural } from '../format';
import { BUNDLED } from '../samples';
import { close, inspected, loaded, open, openBundled, problem } from '../state/model';

function Picker({ label, kind }: { label: string; kind: 'primary' | 'quiet' }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class={kind} onClick={() => input.current!.click()}>{label}</button>
      <input
        ref={input} type="file" multiple hidden aria-label={label}
        onChange={({ currentTarget }) => {
          void open([...currentTarget.files!]);
          currentTarget.value = '';
        }}
      />
    </>
  );
}

function Empty() {
  return (
    <section class="band empty" aria-labelledby="start">
      <h1 id="start">Quantize an ONNX model here. It never leaves this computer.</h1>
      <div class="drop">
        <p>Drop a model anywhere on this page, with its external data if it has any</p>
        <Picker label="Choose a file" kind="primary" />
      </div>
      <div class="cards" role="group" aria-label="Models to try">
        <p>or try one of these:</p>
        {BUNDLED.map((sample) => (
          <button key={sample.file} type="button" class="card" onClick={() => void openBundled(sample)}>
            <strong>{sample.title}</strong>
            <span class="figure">{bytesText(sample.bytes)}</span>
            <small>{sample.what}</small>
          </button>
        ))}
      </div>
    </section>
  );
}

const valueText = ({ name, type, shape }: Value) => `${name}: ${type.toLowerCase()} ${shape}`;

function Values({ word, values }: { word: string; values: Value[] }) {
  return <div class="wide"><dt>{plural(values.length, word)}</dt><dd>{values.map(valueText).join(' · ')}</dd></div>;
}

function Facts({ model }: { model: Report['model'] }) {
  const opset = Object.entries(model.opsets).map(([domain, at]) => (domain === 'ai.onnx' ? at : `${domain} ${at}`));
  return (
    <dl class="facts">
      <div><dt>Size</dt><dd>{bytesText(model.file_bytes)}</dd></div>
      <div><dt>Parameters</dt><dd>{countText(model.parameters)}</dd></div>
      <div><dt>Nodes</dt><dd>{model.nodes.toLocaleString('en')}</dd></div>
      <div><dt>Opset</dt><dd>{opset.join(', ')}</dd></div>
      <Values word="input" values={model.inputs} />
      <Values word="output" values={model.outputs} />
    </dl>
  );
}

function Problem() {
  const { where, problem: what, next, missing } = problem.value!;
  const lacks = `the file “${missing}”, which holds some of its weights, is missing.`;
  return (
    <div class="problem" role="alert">
      <p><strong>{where && `${where}: `}</strong>{missing ? lacks : `${what}.`}</p>
      {missing ? <p>Drop it here, or <Picker label={`choose ${missing}`} kind="quiet" /></p> : next && <p>{next}.</p>}
    </div>
  );
}

export function ModelBand() {
  if (!loaded.value) {
    return (
      <>
        <Empty />
        {problem.value && <Problem />}
      </>
    );
  }
  const model = inspected.value?.model;
  return (
    <section class="band" aria-labelledby="model">
      <div class="title">
        <h2 id="model">{loaded.value.name}</h2>
        <button type="button" class="quiet" onClick={close}>Another model</button>
      </div>
      {model && <Facts model={model} />}
      {model?.quantized_already && (
        <p class="note">This model holds integer operators: it is quantized already, at least in part.</p>
      )}
      {problem.value && <Problem />}
    </section>
  );
}
