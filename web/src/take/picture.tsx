// A run as one picture to show: verdict, size, latency, drift, and what it takes natively where that is known.
import { render } from 'preact';
import { NativeView } from '../bands/native_view';
import { Pictures } from '../bands/pictures';
import { Printed } from '../charts/frame';
import type { Run } from '../state/runs';
import { drawn } from './draw_page';
import { modeOf } from './run_words';
import { becauseOf, setupOf, verdictSentence } from './verdict_words';

const THIRD = 328, WHOLE = 1040;

function Sheet({ run, pinned }: { run: Run; pinned: Run | null }) {
  const because = becauseOf(run);
  return (
    <>
      <p class="kicker">Octet: {run.source.name}, {modeOf(run)}</p>
      <h2 class={`verdict ${run.comparison?.verdict.judgement ?? ''}`}>{verdictSentence(run, false)}</h2>
      {because && <p class="because">{because}</p>}
      <Printed.Provider value={{ width: THIRD }}>
        <Pictures run={run} pinned={pinned} />
      </Printed.Provider>
      {run.comparison && <p class="setup">{setupOf(run.comparison)}</p>}
      <Printed.Provider value={{ width: WHOLE }}>
        <NativeView run={run} pinned={pinned} />
      </Printed.Provider>
    </>
  );
}

/** As a PNG, in the colours that the page has now; its width does not depend on the window's. */
export async function pictureOf(run: Run, pinned: Run | null): Promise<Blob> {
  const sheet = document.createElement('div');
  sheet.className = 'sheet';
  sheet.inert = true;
  document.body.append(sheet);
  try {
    render(<Sheet run={run} pinned={pinned} />, sheet);
    return await drawn(sheet);
  } finally {
    render(null, sheet);
    sheet.remove();
  }
}
