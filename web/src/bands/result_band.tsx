// First the verdict, then size, latency and drift, then what became of the weights and why.
import { useEffect, useRef } from 'preact/hooks';
import type { Report } from 'octet-core';
import { Bars } from '../charts';
import { bytesText, dbText, msText, percentText, plural, timesText } from '../format';
import { commandLine } from '../options';
import { awaited, measured, notMeasured, result } from '../state';
import type { Result } from '../state';
import type { Measured } from '../work/protocol';
import { Explained } from './explained';

const ADVICE = '; drift on made-up inputs says little, drop samples (.npz) to know';

function Verdict({ report }: { report: Report }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { input_bytes, output_bytes } = report.sizes;
  const judged = measured.value?.verdict;
  useEffect(() => {
    if (awaited.value) heading.current?.focus();
  }, []);
  const smaller = `${timesText(input_bytes / output_bytes)} smaller.`;
  const sentence = judged?.sentence ?? `${smaller} Speed and drift are being measured.`;
  return (
    <h2 ref={heading} tabIndex={-1} class={`verdict ${judged?.judgement ?? ''}`}>
      {notMeasured.value ? `${smaller} Not verified: ${notMeasured.value}.` : sentence}
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

function Latency({ latency, times }: { latency: Measured['latency']; times: Measured }) {
  if (!latency) return null;
  const { baseline, candidate, speedup } = latency;
  return (
    <figure>
      <figcaption>Latency</figcaption>
      <Bars
        rows={[
          ['before', baseline.median_ms, msText(baseline.median_ms), times.reference_ms],
          ['after', candidate.median_ms, msText(candidate.median_ms), times.candidate_ms],
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

function Figures({ drift }: { drift: Measured['drift'][number] }) {
  const short = (value: number | null) => value?.toPrecision(2) ?? '–';
  return (
    <>
      <td>{dbText(drift.sqnr_db)}</td>
      <td>{short(drift.max_abs_error)} of {short(drift.max_abs)}</td>
      <td>{drift.top1_agreement == null ? '–' : percentText(drift.top1_agreement)}</td>
    </>
  );
}

function Drift({ judged }: { judged: Measured }) {
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
      <p>on {judged.inputs}</p>
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

function Downloads({ candidate, report, choices }: Result) {
  const plan = new Blob([`${JSON.stringify(report.plan, null, 1)}\n`], { type: 'application/json' });
  return (
    <div class="downloads">
      <Download blob={candidate.model} name={candidate.name} label={`Download ${candidate.name}`} />
      {Object.entries(candidate.files).map(([name, blob]) => (
        <Download key={name} blob={blob} name={name} label={`Download ${name}`} />
      ))}
      <Download blob={plan} name={candidate.name.replace(/\.onnx$/, '.plan.json')} label="Plan as JSON" />
      <p>The same on the command line: <code>{commandLine(report.model.name, candidate.name, choices)}</code></p>
    </div>
  );
}

export function ResultBand() {
  if (!result.value) return null;
  const { report } = result.value;
  const judged = measured.value;
  return (
    <section class="band result" aria-label="Result">
      <Verdict report={report} />
      <div class="pictures">
        <Size report={report} />
        {judged && <Latency latency={judged.latency} times={judged} />}
        {judged && <Drift judged={judged} />}
        {!judged && !notMeasured.value && <p class="pending">Latency and drift appear once both models have run.</p>}
      </div>
      {judged && <p class="setup">Measured with {judged.runtime}{judged.synthetic && ADVICE}.</p>}
      <Downloads {...result.value} />
      <Explained report={report} />
    </section>
  );
}
