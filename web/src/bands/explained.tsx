// What became of the nodes that have weights, gathered by reason: a model of a thousand nodes has a dozen.
import type { Action, PlannedNode, Report } from 'octet-core';
import { bytesText, plural } from '../format';

const ACTIONS: Record<Action, string> = {
  static: 'in integers, ranges learned', dynamic: 'in integers', weights: 'stored small', keep: 'left in float',
};

interface Group {
  action: Action;
  op: string;
  why: string;
  nodes: string[];
}

function groupNodes(nodes: PlannedNode[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { node, op, action, why, weights } of nodes) {
    if (action === 'keep' && !weights?.length) continue;
    const key = JSON.stringify([action, op, why]);
    if (!groups.has(key)) groups.set(key, { action, op, why, nodes: [] });
    groups.get(key)!.nodes.push(node);
  }
  return [...groups.values()];
}

function Left({ left }: { left: Report['sizes']['left_float'] }) {
  const reasons = new Map<string, { bytes: number; names: string[] }>();
  for (const { name, bytes, why } of left) {
    const reason = reasons.get(why) ?? { bytes: 0, names: [] };
    reason.bytes += bytes;
    reason.names.push(name);
    reasons.set(why, reason);
  }
  const sorted = [...reasons].sort(([, a], [, b]) => b.bytes - a.bytes);
  return (
    <ul class="reasons">
      {sorted.map(([why, { bytes, names }]) => (
        <li key={why}><strong>{bytesText(bytes)}</strong> in {plural(names.length, 'tensor')}: {why}</li>
      ))}
    </ul>
  );
}

export function Explained({ report }: { report: Report }) {
  const { sizes, plan } = report;
  const share = sizes.float_weight_bytes ? sizes.weights_in_8_bits_bytes / sizes.float_weight_bytes : 0;
  const notes = [...report.passes.flatMap((pass) => pass.notes), ...plan.notes];
  const groups = groupNodes(plan.nodes);
  return (
    <section class="explained" aria-labelledby="explained">
      <h3 id="explained">What became of the weights</h3>
      <p>
        {bytesText(sizes.weights_in_8_bits_bytes)} of {bytesText(sizes.float_weight_bytes)} of float weights
        ({(100 * share).toFixed(1)} %) are now {bytesText(sizes.stored_bytes)}.
      </p>
      {groups.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Nodes with weights">
          <table>
            <thead><tr><th scope="col">nodes</th><th scope="col">what</th><th scope="col">why</th></tr></thead>
            <tbody>
              {groups.map(({ action, op, why, nodes }) => (
                <tr key={`${action} ${op} ${why}`}>
                  <th scope="row" title={nodes.slice(0, 12).join('\n')}>{nodes.length} × {op}</th>
                  <td><span class={`fate of-${action}`}>{ACTIONS[action]}</span></td>
                  <td>{why}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {sizes.left_float.length > 0 && (
        <>
          <h4>Left in float</h4>
          <Left left={sizes.left_float} />
        </>
      )}
      {notes.length > 0 && <ul class="reasons">{notes.map((note) => <li key={note}>{note}</li>)}</ul>}
    </section>
  );
}
