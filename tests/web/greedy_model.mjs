// A model of a hundred bytes whose one output takes `side` * `side` floats.
const bytes = (...parts) => parts.flatMap((part) => (typeof part === 'string' ? [...Buffer.from(part)] : part));

function varint(value) {
  const out = [];
  for (; value > 127; value = Math.floor(value / 128)) out.push((value % 128) | 128);
  return [...out, value];
}

const number = (field, value) => [field << 3, ...varint(value)];
const message = (field, ...parts) => {
  const body = bytes(...parts);
  return [(field << 3) | 2, ...varint(body.length), ...body];
};

const value = (name, ...dims) => {
  const shape = message(2, ...dims.map((dim) => message(1, number(1, dim))));
  return bytes(message(1, name), message(2, message(1, number(1, 1), shape)));
};

export function greedyModel(side) {
  const shape = message(5, number(1, 2), number(2, 7), message(7, varint(side), varint(side)), message(8, 'shape'));
  const node = message(1, message(1, 'x'), message(1, 'shape'), message(2, 'y'), message(4, 'Expand'));
  const ends = [message(11, value('x', 1, 1)), message(12, value('y', side, side))];
  const graph = message(7, node, message(2, 'greedy'), shape, ...ends);
  return bytes(number(1, 8), message(8, number(2, 13)), graph);
}
