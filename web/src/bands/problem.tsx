// What went wrong, to which file or node, and what to do now.
import type { WorkError } from 'octet-wasm';
import { open } from '../state/model';
import { Picker } from './picker';

export function Problem({ error }: { error: WorkError }) {
  const { where, problem, next, missing } = error;
  const lacks = `the file “${missing}”, which holds some of its weights, is missing.`;
  return (
    <div class="problem" role="alert">
      <p><strong>{where && `${where}: `}</strong>{missing ? lacks : `${problem}.`}</p>
      {missing
        ? <p>Drop it here, or <Picker label={`choose ${missing}`} kind="quiet" onPick={(given) => void open(given)} /></p>
        : next && <p>{next.charAt(0).toUpperCase() + next.slice(1)}.</p>}
    </div>
  );
}
