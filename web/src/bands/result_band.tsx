// First the verdict, then size, latency and drift, then what became of the weights and why.
import { useEffect, useRef } from 'preact/hooks';
import type { Report } from 'octet-core';
import { Bars } from '../charts';
import { bytesText, dbText, msText, percentText, plural, timesText } from '../format';
import { commandLine } from '../options';
import type { Comparison, Timed } from '../package';
import { awaited } from '../state/run';
import { current } from '../state/runs';
import type { Run } from '../state/runs';
import { Explained } from './explained';

const ADVICE = '; drift on made-up inputs says little, drop samples (.npz) to know';

function Verdict({ report, comparison, notVerified }: Run) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { input_bytes, output_bytes } = report.sizes;
  const judged = comparison?.verdict;
  useEffect(() => {
    if (awaited.value) heading.current?.focus();
  }, []);
  const smaller = `${timesText(input_bytes / output_bytes)} smaller.`;
  const sentence = judged?.sentence ?? `${smaller} Speed and drift are being measured.`;
  return (
    <h2 ref={heading} tabIndex={-1} class={`verdict ${judged?.judgement ?? ''}`}>
      {notVerified ? `${smaller} Not verified: ${notVerified}.` : sentence}
    </h2>
  );
}

function Size({ report }: { report: Report }) {
  const { input_bytes, output_bytes } = report.sizes;
  const less = 1 - output_bytes / input_bytes;
  return (
    <figure>
      <figcaption>Size</figcaption>
      <Bars
        rows={[
          ['before', input_bytes, bytesText(input_bytes)],
          ['after', output_bytes, bytesText(output_bytes)],
        ]}
      />
      <p>{less >= 0 ? `${percentText(less)} less` : `${percentText(-less)} more`}</p>
    </figure>
  );
}

function Latency({ baseline, candidate, speedup, reference_ms, candidate_ms }: Timed) {
  return (
    <figure>
      <figcaption>Latency</figcaption>
      <Bars
        rows={[
          ['before', baseline.median_ms, msText(baseline.median_ms), reference_ms],
          ['after', candidate.median_ms, msText(candidate.median_ms), candidate_ms],
        ]}
      />
      <p>
        {timesText(speedup.ratio)} the speed, {timesText(speedup.low)} to {timesText(speedup.high)} in 90 % of
        resamples; {plural(candidate.runs, 'run')} each, interleaved
      </p>
    </figure>
  );
}

const COLUMNS = ['output', 'SQNR', 'largest error', 'same top 1'];

function Figures({ drift }: { drift: Comparison['drift'][number] }) {
  const short = (value: number | null) => value?.toPrecision(2) ?? '–';
  return (
    <>
      <td>{dbText(drift.sqnr_db)}</td>
      <td>{short(drift.max_abs_error)} of {short(drift.max_abs)}</td>
      <td>{drift.top1_agreement == null ? '–' : percentText(drift.top1_agreement)}</td>
    </>
  );
}

function Drift({ judged }: { judged: Comparison }) {
  return (
    <figure class="drift">
      <figcaption>Drift</figcaption>
      <div class="scroll" tabIndex={0} role="region" aria-label="Drift of each output">
        <table>
          <thead>
            <tr>{COLUMNS.map((head) => <th key={head} scope="col">{head}</th>)}</tr>
          </thead>
          <tbody>
            {judged.drift.map((output) => (
              <tr key={output.name}>
                <th scope="row">{output.name}</th>
                {output.comparable ? <Figures drift={output} /> : <td colSpan={3}>{output.why_not}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p>on {judged.samples.description}</p>
    </figure>
  );
}

function Download({ blob, name, label }: { blob: Blob; name: string; label: string }) {
  const save = () => {
    const url = URL.createObjectURL(blob);
    const link = document.createElement('a');
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  };
  return <button type="button" class={label.startsWith('Plan') ? 'quiet' : 'primary'} onClick={save}>{label}</button>;
}

function Downloads({ output: candidate, report, choices }: Run) {
  const plan = new Blob([`${JSON.stringify(report.plan, null, 1)}\n`], { type: 'application/json' });
  return (
    <div class="downloads">
      <Download blob={candidate.model} name={candidate.name} label={`Download ${candidate.name}`} />
      {Object.entries(candidate.files ?? {}).map(([name, blob]) => (
        <Download key={name} blob={blob} name={name} label={`Download ${name}`} />
      ))}
      <Download blob={plan} name={candidate.name.replace(/\.onnx$/, '.plan.json')} label="Plan as JSON" />
      <p>The same on the command line: <code>{commandLine(report.model.name, candidate.name, choices)}</code></p>
    </div>
  );
}

export function ResultBand() {
  const run = current.value;
  if (!run) return null;
  const { report, comparison, notVerified } = run;
  const one = comparison?.latency_by_threads.find(({ threads }) => threads === 1);
  return (
    <section class="band result" aria-label="Result">
      <Verdict key={run.id} {...run} />
      <div class="pictures">
        <Size report={report} />
        {one && <Latency {...one} />}
        {comparison && <Drift judged={comparison} />}
        {!comparison && !notVerified && <p class="pending">Latency and drift appear once both models have run.</p>}
      </div>
      {comparison && (
        <p class="setup">
          Measured with {comparison.environment.runtime}{comparison.samples.synthetic && ADVICE}.
        </p>
      )}
      <Downloads {...run} />
      <Explained report={report} />
    </section>
  );
}
