// Models of a few hundred bytes, written field by field.
export const bytes = (...parts) => parts.flatMap((part) => (typeof part === 'string' ? [...Buffer.from(part)] : part));

function varint(value) {
  const out = [];
  for (; value > 127; value = Math.floor(value / 128)) out.push((value % 128) | 128);
  return [...out, value];
}

export const number = (field, value) => [field << 3, ...varint(value)];
export const message = (field, ...parts) => {
  const body = bytes(...parts);
  return [(field << 3) | 2, ...varint(body.length), ...body];
};

export const value = (name, ...dims) => {
  const shape = message(2, ...dims.map((dim) => message(1, number(1, dim))));
  return bytes(message(1, name), message(2, message(1, number(1, 1), shape)));
};

/** Its one output takes `side` * `side` floats. */
export function greedyModel(side) {
  const shape = message(5, number(1, 2), number(2, 7), message(7, varint(side), varint(side)), message(8, 'shape'));
  const node = message(1, message(1, 'x'), message(1, 'shape'), message(2, 'y'), message(4, 'Expand'));
  const ends = [message(11, value('x', 1, 1)), message(12, value('y', side, side))];
  const graph = message(7, node, message(2, 'greedy'), shape, ...ends);
  return bytes(number(1, 8), message(8, number(2, 13)), graph);
}

/** y = x @ w for x of [1, length], as sound comes. */
export function waveModel(length) {
  const weights = [...Buffer.from(Float32Array.from({ length: length * 8 }, (_, i) => Math.sin(i)).buffer)];
  const w = message(5, number(1, length), number(1, 8), number(2, 1), message(8, 'w'), message(9, weights));
  const node = message(1, message(1, 'x'), message(1, 'w'), message(2, 'y'), message(3, '/mix'), message(4, 'MatMul'));
  const ends = [message(11, value('x', 1, length)), message(12, value('y', 1, 8))];
  return bytes(number(1, 8), message(8, number(2, 13)), message(7, node, message(2, 'wave'), w, ...ends));
}
