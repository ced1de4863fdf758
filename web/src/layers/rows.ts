// Layers of a run with what each loses: values and weights of the comparison, joined with the plan by node.
import type { PlannedNode } from 'octet-wasm';
import type { StripLayer } from '../charts/strip';
import type { Run } from '../state/runs';

export interface LayerRow {
  key: string;
  /** The node, or the value where no node makes it. */
  name: string;
  op: string;
  /** Of the float model; empty where only weights are known. */
  value: string;
  /** Decibels; undefined where there is nothing to measure, null where it is no number. */
  own?: number | null;
  weight?: number | null;
  soFar?: number | null;
  weights: string[];
  /** The layer itself, or the node that took it in. */
  planned: PlannedNode | null;
  /** Nodes for which something is rounded here, which keeping them in float would spare. */
  causes: string[];
  /** Place in the model. */
  order: number;
}

export type Order = 'worst' | 'weights' | 'soFar' | 'model';

export const ORDERS: { value: Order; label: string }[] = [
  { value: 'worst', label: 'own rounding' },
  { value: 'weights', label: 'rounding of weights' },
  { value: 'soFar', label: 'all error up to there' },
  { value: 'model', label: 'place in the model' },
];

const lowest = (values: (number | null)[]) =>
  values.reduce((low, value) => (low === null || value === null ? null : Math.min(low, value)));

interface Planned {
  of(node: string, value: string): PlannedNode | null;
  causes(planned: PlannedNode | null, value: string): string[];
  order(node: string): number;
}

function plannedNodes({ report: { plan } }: Run): Planned {
  const byNode = new Map<string, PlannedNode>();
  const byValue = new Map<string, PlannedNode>();
  const readers = new Map<string, string[]>();
  const order = new Map<string, number>();
  plan.nodes.forEach((node, at) => {
    order.set(node.node, at);
    byNode.set(node.node, node);
    for (const value of node.writes ?? []) byValue.set(value, node);
    for (const value of node.reads ?? []) readers.set(value, [...(readers.get(value) ?? []), node.node]);
  });
  // What was taken in is listed too, as kept; the node that took it in decides.
  for (const node of plan.nodes) if (node.absorbs) byNode.set(node.absorbs, node);
  return {
    of: (node, value) => byNode.get(node) ?? byValue.get(value) ?? null,
    causes: (planned, value) => (planned && planned.action !== 'keep' ? [planned.node] : (readers.get(value) ?? [])),
    order: (node) => order.get(node) ?? -1,
  };
}

function rowsOf(run: Run): LayerRow[] {
  const layers = run.layers!;
  const plan = plannedNodes(run);
  const weightsOf = new Map<string, { names: string[]; dbs: (number | null)[] }>();
  for (const { weight, nodes, sqnr_db } of layers.weights) {
    for (const node of nodes) {
      const known = weightsOf.get(node) ?? { names: [], dbs: [] };
      weightsOf.set(node, { names: [...known.names, weight], dbs: [...known.dbs, sqnr_db] });
    }
  }
  const compared = new Set(layers.values.map(({ node }) => node));
  const shown = new Set<string>();
  const rows = layers.values.map((value): LayerRow => {
    const planned = plan.of(value.node, value.value);
    // A product whose own value is gone, since it took the next node in, shows its weights there.
    const holder = planned && !compared.has(planned.node) ? planned.node : value.node;
    const weights = weightsOf.get(value.node) ?? weightsOf.get(holder);
    shown.add(value.node).add(holder);
    return {
      key: value.value,
      name: value.node || value.value,
      op: value.op,
      value: value.value,
      planned,
      causes: plan.causes(planned, value.value),
      ...(value.qdq_err ? { own: value.qdq_err.sqnr_db } : {}),
      soFar: value.xmodel_err.sqnr_db,
      ...(weights ? { weight: lowest(weights.dbs), weights: weights.names } : { weights: [] }),
      order: plan.order(value.node),
    };
  });
  for (const [node, { names, dbs }] of weightsOf) {
    if (shown.has(node)) continue;
    const planned = plan.of(node, '');
    rows.push({
      key: `node ${node}`,
      name: node,
      op: planned?.op ?? '',
      value: '',
      weight: lowest(dbs),
      weights: names,
      planned,
      causes: plan.causes(planned, ''),
      order: plan.order(node),
    });
  }
  return rows;
}

// What is no number is the worst; what was not measured comes last.
const rank = (db: number | null | undefined) =>
  db === undefined ? Number.POSITIVE_INFINITY : (db ?? Number.NEGATIVE_INFINITY);

const KEYS = {
  worst: (row: LayerRow) => [rank(row.own), rank(row.weight), rank(row.soFar)],
  weights: (row: LayerRow) => [rank(row.weight), rank(row.own), rank(row.soFar)],
  soFar: (row: LayerRow) => [rank(row.soFar)],
  model: (row: LayerRow) => [row.order],
} as const;

function byKey(order: Order) {
  const key = KEYS[order];
  return (a: LayerRow, b: LayerRow) => {
    const left = key(a);
    const right = key(b);
    for (const [i, value] of left.entries()) if (value !== right[i]) return value < right[i]! ? -1 : 1;
    return a.order - b.order;
  };
}

export const layerRows = (run: Run, order: Order): LayerRow[] => rowsOf(run).sort(byKey(order));

/** Orders that say something for this run. */
export function ordersOf(rows: LayerRow[]): Order[] {
  const known = (name: 'own' | 'weight' | 'soFar') => rows.some((row) => row[name] !== undefined);
  return [
    ...(known('own') ? ['worst' as const] : []),
    ...(known('weight') ? ['weights' as const] : []),
    ...(known('soFar') ? ['soFar' as const] : []),
    'model',
  ];
}

const BARS = {
  own: 'what rounding its value adds',
  weight: 'what rounding its weights adds',
  soFar: 'all error up to there',
};

interface StripOfLayers {
  title: string;
  layers: StripLayer[];
  bars: string;
  ends: [string, string];
}

/** What the strip draws: those layers that have the figure that is asked for. */
export function stripOf(rows: LayerRow[], order: Order): StripOfLayers {
  const known = (name: 'own' | 'weight') => rows.some((row) => row[name] !== undefined);
  const shown =
    order === 'soFar' ? 'soFar' : order === 'weights' && known('weight') ? 'weight' : known('own') ? 'own' : 'soFar';
  const layers = rows
    .filter((row) => row[shown] !== undefined)
    .map((row) => ({
      key: row.key,
      name: row.name,
      bar: row[shown]!,
      ...(shown !== 'soFar' && row.soFar !== undefined ? { soFar: row.soFar } : {}),
    }));
  return order === 'model'
    ? { title: 'Error by layer, in the model’s order', layers, bars: BARS[shown], ends: ['first', 'last'] }
    : { title: 'Error by layer, worst first', layers, bars: BARS[shown], ends: ['worst', 'best'] };
}
