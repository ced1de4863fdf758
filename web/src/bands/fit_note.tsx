// Said before anything runs: a form that would not fit a browser once it is loaded, and the one that does.
import { bytesText } from '../format';
import { choose } from '../state/choices';
import { inForce, planFile } from '../state/in_force';
import { planned } from '../state/plan';

// The runtime has 4 GB of addresses, and holds more than the weights.
const BROWSER_BYTES = 2e9;
const BLOCK = 32; // what runtimes expect

export function FitNote() {
  const report = planned.value;
  if (!report || !['wasm', 'any'].includes(report.plan.target)) return null;
  const { output_bytes: stored, loaded_bytes: loaded } = report.sizes;
  if (loaded <= BROWSER_BYTES) return null;
  const folded = loaded > 1.5 * stored && inForce.value.mode === 'weights' && !planFile.value;
  return (
    <p class="note" role="note">
      {folded
        ? `The file becomes ${bytesText(stored)}, but its weights are made float again when it is loaded: ${bytesText(loaded)}, more than a browser gives. In blocks they stay small. `
        : `What comes of this is ${bytesText(loaded)} once loaded, more than a browser gives: it is for native runtimes. `}
      {folded && (
        <button type="button" class="quiet inline" onClick={() => choose({ block_size: BLOCK })}>Store in blocks</button>
      )}
    </p>
  );
}
