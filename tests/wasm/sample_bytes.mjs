// Samples as files, made here: pictures and ONNX tensors.
import { deflateSync } from 'node:zlib';

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; ++bit) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]), ends = [Buffer.alloc(4), Buffer.alloc(4)];
  ends[0].writeUInt32BE(data.length);
  ends[1].writeUInt32BE((body.reduce((crc, byte) => TABLE[(crc ^ byte) & 255] ^ (crc >>> 8), ~0) ^ ~0) >>> 0);
  return Buffer.concat([ends[0], body, ends[1]]);
}

/** `at` gives what is at (row, column): a gray level, or red, green and blue. */
export function png(width, height, at) {
  const header = Buffer.alloc(13), colors = Array.isArray(at(0, 0));
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, colors ? 2 : 0], 8);
  const rows = Array.from({ length: height }, (_, row) =>
    [0, ...Array.from({ length: width }, (__, column) => at(row, column)).flat()]);
  const data = deflateSync(Buffer.from(rows.flat()));
  const start = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  const parts = [start, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))];
  return new Uint8Array(Buffer.concat(parts));
}

const varint = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]);

/** An onnx.TensorProto of float32. */
export function tensorProto(name, dims, values) {
  const text = Buffer.from(name), data = Buffer.from(Float32Array.from(values).buffer);
  const head = dims.flatMap((dim) => [0x08, ...varint(dim)]);
  const fields = [[...head, 0x10, 1, 0x42, ...varint(text.length)], text, [0x4a, ...varint(data.length)], data];
  return new Uint8Array(Buffer.concat(fields.map((part) => Buffer.from(part))));
}
