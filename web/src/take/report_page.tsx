// The report as one HTML file: no script, nothing fetched. Components of the page are drawn into text, which escapes
// what comes from models.
import { render } from 'preact';
import { Explained } from '../bands/explained';
import { NativeView } from '../bands/native_view';
import { Pictures } from '../bands/pictures';
import chartStyle from '../charts/charts.css?raw';
import { Printed } from '../charts/frame';
import { Strip } from '../charts/strip';
import { bytesText, countText, dbText } from '../format';
import { layerRows, stripOf } from '../layers/rows';
import type { Run } from '../state/runs';
import nativeStyle from '../native.css?raw';
import reportStyle from './report.css?raw';
import { commandOf, modeOf, optionRows } from './run_words';
import { becauseOf, setupOf, verdictSentence } from './verdict_words';

const WIDTH = 340;
const HALF = 440; // still to be read on a phone
const WIDE = 1040;
const MOST_LAYERS = 40;

function Facts({ run }: { run: Run }) {
  const { model } = run.report;
  const opset = Object.entries(model.opsets)
    .map(([domain, at]) => `${domain} ${at}`)
    .join(', ');
  const values = (list: typeof model.inputs) =>
    list.map(({ name, type, shape }) => `${name}: ${type.toLowerCase()} ${shape}`).join(' · ');
  const rows: [string, string][] = [
    ['Model', `${run.source.name}, ${bytesText(model.file_bytes)}`],
    ['Parameters', countText(model.parameters)],
    ['Nodes', model.nodes.toLocaleString('en')],
    ['Opset', opset],
    ['Producer', model.producer || '–'],
    ['Inputs', values(model.inputs)],
    ['Outputs', values(model.outputs)],
  ];
  return <Pairs rows={rows} />;
}

function Pairs({ rows }: { rows: [string, string][] }) {
  return (
    <dl>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Layers({ run }: { run: Run }) {
  const rows = layerRows(run, 'worst');
  const shown = rows.slice(0, MOST_LAYERS);
  return (
    <section>
      <h2>Layers</h2>
      <Printed.Provider value={{ width: WIDE }}>
        <Strip {...stripOf(rows, 'worst')} selected={null} />
      </Printed.Provider>
      <table>
        <thead>
          <tr>
            {['layer', 'operator', 'own rounding', 'weights', 'all up to there'].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={row.key}>
              <th scope="row">{row.name}</th>
              <td>{row.op}</td>
              {[row.own, row.weight, row.soFar].map((db, i) => (
                <td key={i}>{db === undefined ? '–' : dbText(db)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown.length && (
        <p>
          The worst {shown.length} of {rows.length}; the JSON report has all.
        </p>
      )}
    </section>
  );
}

function ReportBody({ run, pinned }: { run: Run; pinned: Run | null }) {
  const because = becauseOf(run);
  const rows = optionRows({ ...run.options, mode: run.report.plan.mode });
  return (
    <main>
      <p class="kicker">
        Octet, {new Date(run.created).toISOString().slice(0, 16).replace('T', ' ')} UTC: {run.source.name},{' '}
        {modeOf(run)}
      </p>
      <h1 class={run.comparison?.verdict.judgement ?? ''}>{verdictSentence(run, false)}</h1>
      {because && <p class="because">{because}</p>}
      <Printed.Provider value={{ width: WIDTH }}>
        <Pictures run={run} pinned={pinned} />
      </Printed.Provider>
      {run.comparison && <p class="setup">{setupOf(run.comparison)}</p>}
      {run.native && (
        <section>
          <h2>Here and natively</h2>
          <Printed.Provider value={{ width: HALF }}>
            <NativeView run={run} pinned={pinned} />
          </Printed.Provider>
        </section>
      )}
      <h2>How it was made</h2>
      <Pairs rows={run.planFile === undefined ? rows : [['plan', run.planFile], ...rows]} />
      {run.calibrated && <p>Ranges from {run.calibrated.description}.</p>}
      <p>
        <code>{commandOf(run)}</code>
      </p>
      <Explained report={run.report} />
      {run.layers && <Layers run={run} />}
      <h2>The model</h2>
      <Facts run={run} />
    </main>
  );
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

// Styles are the only thing a report may load, from itself.
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export function reportPage(run: Run, pinned: Run | null): string {
  const place = document.createElement('div');
  render(<ReportBody run={run} pinned={pinned} />, place);
  const body = place.innerHTML;
  render(null, place);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(`${run.output.name}: ${verdictSentence(run, false)}`)}</title>
<style>
${chartStyle}
${reportStyle}
${nativeStyle}
</style>
</head>
<body>
${body}
</body>
</html>
`;
}
