// What the model runs on: samples that ranges are learned from, and samples that outputs are checked on.
import { useState } from 'preact/hooks';
import { asSamples, filesOf, isJson, isLabels, isSample } from '../dropped';
import type { Given } from '../dropped';
import { plural } from '../format';
import { fieldsOf } from '../option_fields';
import { inForce, learns } from '../state/in_force';
import { announcement } from '../state/job';
import { inspected } from '../state/model';
import { server } from '../state/native';
import { previews } from '../state/previews';
import type { Preview } from '../state/previews';
import { calibration, checkedOn, evaluation, hasPictures, isReal, labelsOf, setOf, takeSamples } from '../state/samples';
import type { Purpose, ReadableSet, SampleSet } from '../state/samples';
import { onPage } from '../weights';
import { Fields } from './fields';
import { Picker } from './picker';
import { TensorPreview } from './tensor_preview';

const MADE_UP = 16;
const ENOUGH = 100;

const TITLES: Record<Purpose, string> = { calibration: 'Samples to learn ranges from', evaluation: 'Samples to check on' };

const KINDS = '.npz, .npy, .pb, pictures or raw numbers';

export function useMadeUp(purpose: Purpose) {
  setOf(purpose).value = { kind: 'made up', count: MADE_UP };
  announcement.value = `${MADE_UP} made-up inputs`;
}

function Fits({ preview }: { preview: Preview }) {
  const inputs = inspected.value?.model.inputs ?? [];
  const words = inputs.map(({ name, type, shape }) => `${name}: ${type.toLowerCase()} ${shape}`).join(' · ');
  return <p class="fits"><span aria-hidden="true">✓</span> {onPage(preview.description)}; the first fit {words}</p>;
}

function First({ preview }: { preview: Preview }) {
  return (
    <>
      <Fits preview={preview} />
      <ul class="previews">
        {preview.samples.map(({ name, tensors }) => (
          <li key={name}>
            {Object.entries(tensors).slice(0, 3).map(([input, tensor]) => (
              <TensorPreview key={input} name={input} tensor={tensor} image={preview.image} />
            ))}
            <small class="file">{name}</small>
          </li>
        ))}
      </ul>
    </>
  );
}

function Wrong({ error }: { error: NonNullable<Preview['error']> }) {
  const { where, problem, next } = error;
  return (
    <div class="problem" role="alert">
      <p><strong>{where && `${where}: `}</strong>{problem}.</p>
      {next && <p>{next.charAt(0).toUpperCase() + next.slice(1)}.</p>}
    </div>
  );
}

function Given({ set, purpose }: { set: SampleSet; purpose: Purpose }) {
  if (set.kind !== 'served') return <Read set={set} purpose={purpose} />;
  return (
    <p class="note">
      octet serve reads {set.folder} itself, on this computer, and learns the ranges natively. Nothing of it comes into the
      browser: drop other samples to check on.
    </p>
  );
}

function Read({ set, purpose }: { set: ReadableSet; purpose: Purpose }) {
  const preview = previews[purpose].value;
  const seen = preview?.of === set ? preview : null;
  const count = seen && seen.count > 0 ? seen.count : set.kind === 'files' ? set.files.length : set.count;
  return (
    <>
      {set.kind === 'made up' && (
        <p class="note">
          Made up from names, types and shapes. {purpose === 'calibration'
            ? 'Ranges of made-up inputs say little of real ones: take the result as a trial.'
            : 'Drift on made-up inputs says little.'}
        </p>
      )}
      {seen?.error ? <Wrong error={seen.error} /> : <div class="seen">{seen && <First preview={seen} />}</div>}
      {purpose === 'calibration' && set.kind === 'files' && !seen?.error && count < ENOUGH && (
        <p class="hint">
          {plural(count, 'sample')}: enough to try. {ENOUGH} to 1000 that look like what the model will meet give ranges
          that hold.
        </p>
      )}
    </>
  );
}

function emptyText(purpose: Purpose): string {
  if (purpose === 'calibration') return `Drop files or a folder here: ${KINDS}.`;
  if (isReal(checkedOn.value)) return 'None of their own: outputs are checked on the samples that ranges come from.';
  return `None: outputs are checked on made-up inputs, whose drift says little. Drop files or a folder here: ${KINDS}.`;
}

function SampleArea({ purpose }: { purpose: Purpose }) {
  const [over, setOver] = useState(false);
  const set = setOf(purpose).value;
  const served = server.value?.calib?.description;
  const take = (given: Given[]) => {
    const samples = given.filter((one) => isSample(one) || isLabels(one));
    if (samples.length > 0) takeSamples(asSamples(samples), purpose);
    announcement.value = samples.length > 0 ? `${plural(samples.length, 'file')} of samples added`
      : `None of these files is a sample: ${KINDS} are`;
  };
  const id = `samples-${purpose}`;
  return (
    <section
      class={`samples ${over ? 'over' : ''}`} aria-labelledby={id}
      onDragOver={() => setOver(true)} onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        // A plan is for the whole page.
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.length === 0 || files.every(({ name }) => isJson(name))) return;
        event.preventDefault();
        void filesOf(event.dataTransfer!).then(take);
      }}
    >
      <div class="title">
        <h3 id={id}>{TITLES[purpose]}</h3>
        <span class="figure">
          {set?.kind === 'files' && <span>{plural(set.files.length, 'file')}</span>}
          {labelsOf(set) && <>, <span>labels.json</span></>}
        </span>
      </div>
      {set ? <Given set={set} purpose={purpose} /> : <p>{emptyText(purpose)}</p>}
      <div class="actions">
        <Picker label="Choose files" kind="quiet" describedBy={id} onPick={take} />
        <Picker label="Choose a folder" kind="quiet" describedBy={id} folder onPick={take} />
        {set?.kind !== 'made up' && purpose === 'calibration' && (
          <button type="button" class="quiet" aria-describedby={id} onClick={() => useMadeUp(purpose)}>
            Use made-up inputs
          </button>
        )}
        {served && purpose === 'calibration' && set?.kind !== 'served' && (
          <button
            type="button" class="quiet" aria-describedby={id}
            onClick={() => {
              calibration.value = { kind: 'served', folder: served };
              announcement.value = `Ranges will be learned natively, from ${served}`;
            }}
          >
            Use {served} of octet serve
          </button>
        )}
        {set && (
          <button
            type="button" class="quiet" aria-describedby={id}
            onClick={() => {
              setOf(purpose).value = null;
            }}
          >
            Remove
          </button>
        )}
      </div>
    </section>
  );
}

export function SamplesBand() {
  const now = inForce.value, learning = learns.value;
  const madeUp = checkedOn.value.kind === 'made up' || (learning && calibration.value?.kind === 'made up');
  const pictures = hasPictures(evaluation.value) || (learning && hasPictures(calibration.value));
  return (
    <div class="sample-sets">
      {learning && <SampleArea purpose="calibration" />}
      <SampleArea purpose="evaluation" />
      {learning && isReal(calibration.value) && (
        <details class="rest">
          <summary>Which samples are taken</summary>
          <Fields fields={fieldsOf('samples', now)} />
        </details>
      )}
      {madeUp && (
        <details class="rest">
          <summary>How inputs are made up</summary>
          <Fields fields={fieldsOf('made up', now)} />
        </details>
      )}
      {pictures && (
        <details class="rest" open>
          <summary>What pictures become</summary>
          <Fields fields={fieldsOf('pictures', now)} />
        </details>
      )}
    </div>
  );
}
