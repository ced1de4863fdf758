// What can be taken from a run: the model, the report, the plan, the ranges, the command line that does the same.
import { CopyButton } from '../charts/frame';
import { announcement, asError } from '../state/job';
import type { Run } from '../state/runs';
import { saveBlob, saveText } from '../take/download';
import { planName, planText, rangesName, reportName } from '../take/names';
import { reportJson } from '../take/report_json';
import { commandOf, readBy } from '../take/run_words';
import { CommandText } from './command_text';

const JSON_TYPE = 'application/json';

export function Take({ run, pinned }: { run: Run; pinned: Run | null }) {
  const { output, ranges } = run;
  const external = Object.entries(output.files ?? {});
  const page = async () => {
    // Only who takes a report needs what draws it.
    const { reportPage } = await import('../take/report_page');
    saveText(reportPage(run, pinned), reportName(run, 'html'), 'text/html');
  };
  const picture = async () => {
    const { pictureOf } = await import('../take/picture');
    try {
      saveBlob(await pictureOf(run, pinned), reportName(run, 'png'));
    } catch (error) {
      announcement.value = asError(error).message;
    }
  };
  const needs = Object.values(readBy(run)).join(' and ');
  return (
    <section class="take" aria-label="Take it away">
      <div class="downloads">
        <button type="button" class="primary" onClick={() => saveBlob(output.model, output.name)}>
          Download {output.name}
        </button>
        {external.map(([name, blob]) => (
          <button key={name} type="button" class="primary" onClick={() => saveBlob(blob, name)}>
            Download {name}
          </button>
        ))}
        <span class="papers">
          <button type="button" class="quiet" onClick={() => void page()}>
            Report
          </button>
          <button type="button" class="quiet" onClick={() => void picture()}>
            Picture
          </button>
          <button
            type="button"
            class="quiet"
            onClick={() => saveText(reportJson(run), reportName(run, 'json'), JSON_TYPE)}
          >
            Report as JSON
          </button>
          <button type="button" class="quiet" onClick={() => saveText(planText(run), planName(run), JSON_TYPE)}>
            Plan as JSON
          </button>
          {ranges !== null && (
            <button type="button" class="quiet" onClick={() => saveText(ranges, rangesName(run), JSON_TYPE)}>
              Ranges as JSON
            </button>
          )}
        </span>
      </div>
      <div class="command">
        <p>The same bytes on the command line{needs && `, with ${needs} beside it`}:</p>
        <CommandText text={commandOf(run)} />
        <CopyButton label="Copy" text={() => commandOf(run)} />
      </div>
    </section>
  );
}
