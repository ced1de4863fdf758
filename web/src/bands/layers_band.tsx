// Where a run loses: its layers by what each adds, and one of them in detail.
import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { Strip } from '../charts/strip';
import { dbText } from '../format';
import { layerRows, ORDERS, ordersOf, stripOf } from '../layers/rows';
import type { LayerRow, Order } from '../layers/rows';
import type { Run } from '../state/runs';
import { LayerDetail } from './layer_detail';

const FIRST_ROWS = 60;

interface Props {
  run: Run;
  /** Null where the float model is not open: then nothing can be asked of it. */
  ask: { debug(): void; exclude: ((nodes: string[]) => void) | null } | null;
  busy: boolean;
}

export function LayersBand({ run, ask, busy }: Props) {
  return (
    <section class="layers" aria-labelledby="layers">
      <h3 id="layers">Layers</h3>
      {run.layers ? (
        <Layers key={run.id} run={run} exclude={ask?.exclude ?? null} busy={busy} />
      ) : (
        <Ask run={run} ask={ask} busy={busy} />
      )}
    </section>
  );
}

function Ask({ run, ask, busy }: Props) {
  return (
    <>
      <p class="help">
        Runs both models with every value shown, and tells which layers lose most: those are worth keeping in float.
      </p>
      <button type="button" disabled={busy || !ask} onClick={() => ask!.debug()}>
        Find the layers that lose
      </button>
      {!ask && <p class="help">Open {run.source.name} again to look into its layers.</p>}
    </>
  );
}

function Layers({ run, exclude, busy }: { run: Run; exclude: ((nodes: string[]) => void) | null; busy: boolean }) {
  const orders = ordersOf(layerRows(run, 'model'));
  const [asked, setOrder] = useState<Order>(orders[0]!);
  const [selected, setSelected] = useState<string | null>(null);
  const order = orders.includes(asked) ? asked : orders[0]!;
  const rows = layerRows(run, order);
  const row = rows.find(({ key }) => key === selected) ?? null;
  return (
    <>
      <div class="order">
        <label for="layer-order">Sorted by</label>
        <select id="layer-order" value={order} onChange={({ currentTarget }) => setOrder(currentTarget.value as Order)}>
          {ORDERS.filter(({ value }) => orders.includes(value)).map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <Strip {...stripOf(rows, order)} selected={selected} onSelect={setSelected} />
      <div class="layer-list">
        <LayerTable rows={rows} selected={selected} onSelect={setSelected} />
        {row ? (
          <LayerDetail key={row.key} run={run} row={row} exclude={exclude} busy={busy} />
        ) : (
          <p class="layer-detail hint">
            Choose a layer to see its weights, its values and the range they are rounded in.
          </p>
        )}
      </div>
      <p class="setup">Measured on {run.layers!.samples_description}.</p>
    </>
  );
}

interface TableProps {
  rows: LayerRow[];
  selected: string | null;
  onSelect(key: string): void;
}

function LayerTable({ rows, selected, onSelect }: TableProps) {
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.slice(0, FIRST_ROWS);
  const own = rows.some((row) => row.own !== undefined);
  const weight = rows.some((row) => row.weight !== undefined);
  const cell = (db: number | null | undefined) => <td class="figure">{db === undefined ? '–' : dbText(db)}</td>;
  return (
    <div class="scroll tall" tabIndex={0} role="region" aria-label="Layers and what each loses">
      <table>
        <thead>
          <tr>
            <th scope="col">layer</th>
            {own && <th scope="col">rounding</th>}
            {weight && <th scope="col">weights</th>}
            <th scope="col">so far</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={row.key} class={row.key === selected ? 'chosen' : ''}>
              <th scope="row">
                <button
                  type="button"
                  class="row-name"
                  aria-pressed={row.key === selected}
                  onClick={() => onSelect(row.key)}
                >
                  <Breakable name={row.name} /> <small>{row.op}</small>
                </button>
              </th>
              {own && cell(row.own)}
              {weight && cell(row.weight)}
              {cell(row.soFar)}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < rows.length && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          Show all {rows.length}
        </button>
      )}
    </div>
  );
}

// Names break between their parts, where they must.
function Breakable({ name }: { name: string }) {
  return (
    <>
      {name.split(/(?<=[/.])/).map((part, i) => (
        <Fragment key={i}>
          {i > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </>
  );
}
