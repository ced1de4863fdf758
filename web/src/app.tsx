// One page, four bands, always in this order; each appears when it has something to say.
import { useEffect, useState } from 'preact/hooks';
import { AutoBand } from './bands/auto_band';
import { ChoicesBand } from './bands/choices_band';
import { ModelBand } from './bands/model_band';
import { ResultBand } from './bands/result_band';
import { RunsBand } from './bands/runs_band';
import { WorkBand } from './bands/work_band';
import { filesOf, isJson } from './dropped';
import type { Given } from './dropped';
import { announcement } from './state/job';
import { inspected, open, problem } from './state/model';
import { server, takeReport } from './state/native';
import { current } from './state/runs';
import { saysPlan, takePlan } from './state/take_plan';
import { linkOf } from './take/link';

// A plan is used for the model that is open, or comes with it. A report of octet bench is about the run that is looked
// at. All else is a model, or belongs to one.
async function take(given: Given[]) {
  const plans: Given[] = [], others: Given[] = [];
  for (const one of given) (isJson(one.path) && (await saysPlan(one.file)) ? plans : others).push(one);
  const [first] = others, alone = given.length === 1 && others.length === 1 && isJson(first!.path);
  if (alone && current.value) {
    await takeReport(current.value, [first!.file]);
    document.getElementById('native')?.focus();
  } else if (alone && inspected.value && !problem.value?.missing) {
    plans.push(first!); // to be told that it is none
  } else if (others.length > 0) {
    await open(others);
  }
  if (plans.length > 0) await takePlan(plans.map(({ file }) => file));
}

// The whole window takes drops, not only the area that says so.
function useWindowDrop(): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const onOver = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const onLeave = (event: DragEvent) => {
      if (!event.relatedTarget) setOver(false);
    };
    const onDrop = (event: DragEvent) => {
      setOver(false);
      if (!carriesFiles(event) || event.defaultPrevented) return;
      event.preventDefault();
      void filesOf(event.dataTransfer!).then(take);
    };
    addEventListener('dragover', onOver);
    addEventListener('dragleave', onLeave);
    const onPaste = (event: ClipboardEvent) => {
      if (!event.clipboardData?.files.length) return;
      event.preventDefault();
      void filesOf(event.clipboardData).then(take);
    };
    addEventListener('drop', onDrop);
    addEventListener('paste', onPaste);
    return () => {
      removeEventListener('dragover', onOver);
      removeEventListener('dragleave', onLeave);
      removeEventListener('drop', onDrop);
      removeEventListener('paste', onPaste);
    };
  }, []);
  return over;
}

export function App() {
  const over = useWindowDrop();
  return (
    <main class={over ? 'page over' : 'page'}>
      <header class="masthead">
        <p class="name">Octet</p>
        <p class="promise">
          {server.value ? 'Served by octet on this computer: nothing leaves it.' : 'Nothing is uploaded: everything runs on this device.'}
        </p>
      </header>
      <ModelBand />
      <ChoicesBand />
      <WorkBand />
      <AutoBand />
      <ResultBand />
      <RunsBand linkOf={linkOf} />
      <p class="visually-hidden" role="status" aria-live="polite">{announcement}</p>
    </main>
  );
}
