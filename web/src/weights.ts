// The weights of a plan in the order of the model, with what becomes of each.
import type { Action, Report } from 'octet-wasm';

export type Fate = 'integers' | 'stored' | 'float';

export interface Weight {
  /** Of the tensor; of small ones that stand together, of the first. */
  name: string;
  /** How many tensors it stands for. */
  count: number;
  bytes: number;
  shape: string;
  fate: Fate;
  node: string;
  op: string;
  why: string;
  /** Of the integers it becomes; empty in float. */
  type: string;
}

export const FATES: Fate[] = ['integers', 'stored', 'float'];

/** The core names options as the command line does. */
export function onPage(why: string): string {
  return why
    .replaceAll('--nodes-to-exclude', '“Leave in float”')
    .replaceAll('--nodes-to-quantize', '“Quantize only”')
    .replaceAll('--image-size', '“Size”')
    .replace(/(ask with )?--op-types( \w+)?/, (_, ask, type) => `${ask ?? ''}“Operators”${type ?? ''}`);
}

const FATE: Record<Action, Fate> = { static: 'integers', dynamic: 'integers', weights: 'stored', keep: 'float' };

export function weightsOf({ plan, model }: Report): Weight[] {
  const shapes = new Map(model.largest.map(({ name, shape }) => [name, shape]));
  const places = new Map<string, number>();
  plan.nodes.forEach(({ weights }, i) => weights?.forEach((name) => places.has(name) || places.set(name, i)));
  const quantized = plan.tensors.map(({ tensor, bytes, type }) => ({ tensor, bytes, type: type as string, why: '' }));
  const kept = plan.kept.map(({ tensor, bytes, why }) => ({ tensor, bytes, type: '', why }));
  const weights = [...quantized, ...kept].map(({ tensor, bytes, type, why }) => {
    const node = plan.nodes[places.get(tensor) ?? -1];
    const fate = type === '' ? 'float' : FATE[node?.action ?? 'weights'];
    return {
      name: tensor, count: 1, bytes, type, shape: shapes.get(tensor) ?? '', node: node?.node ?? '', op: node?.op ?? '',
      fate: fate === 'float' && type !== '' ? 'stored' as const : fate, why: onPage(why || (node?.why ?? '')),
    };
  });
  const place = ({ name }: { name: string }) => places.get(name) ?? plan.nodes.length;
  return weights.sort((a, b) => place(a) - place(b));
}

/** Neighbours of one fate that are too small to be seen become one. */
export function gathered(weights: Weight[], smallest: number): Weight[] {
  const rows: Weight[] = [];
  for (const weight of weights) {
    const last = rows.at(-1);
    const small = weight.bytes < smallest && last && last.fate === weight.fate
      && (last.count > 1 || last.bytes < smallest);
    if (small) {
      const why = last.why === weight.why ? last.why : 'several reasons, see the table';
      rows[rows.length - 1] = { ...last, count: last.count + 1, bytes: last.bytes + weight.bytes, why };
    } else {
      rows.push(weight);
    }
  }
  return rows;
}
