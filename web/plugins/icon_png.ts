// The icon of src/icon.svg as PNG: rectangles with round corners on a square, drawn by supersampling.
import { crc32, deflateSync } from 'node:zlib';

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  radius: number;
  color: [number, number, number];
  opacity: number;
}

// In units of the SVG, whose side is 32.
const SIDE = 32;
const GROUND: [number, number, number] = [0x0b, 0x6e, 0x69], WHITE: [number, number, number] = [255, 255, 255];
const BARS: Box[] = [
  { x: 6, y: 8, width: 8, height: 16, radius: 1.5, color: WHITE, opacity: 0.55 },
  { x: 18, y: 20, width: 8, height: 4, radius: 1.5, color: WHITE, opacity: 1 },
];

function inside({ x, y, width, height, radius }: Box, px: number, py: number): boolean {
  const dx = Math.max(x + radius - px, px - (x + width - radius), 0);
  const dy = Math.max(y + radius - py, py - (y + height - radius), 0);
  return dx * dx + dy * dy <= radius * radius;
}

const SAMPLES = 4;

function pixels(size: number, boxes: Box[]): Uint8Array {
  const rows = new Uint8Array(size * (size * 4 + 1)); // each row begins with its filter, none
  for (let y = 0; y < size; ++y) {
    for (let x = 0; x < size; ++x) {
      let [r, g, b, a] = [0, 0, 0, 0];
      for (let s = 0; s < SAMPLES * SAMPLES; ++s) {
        const px = ((x + ((s % SAMPLES) + 0.5) / SAMPLES) * SIDE) / size;
        const py = ((y + (Math.floor(s / SAMPLES) + 0.5) / SAMPLES) * SIDE) / size;
        let color = [0, 0, 0], alpha = 0;
        for (const box of boxes) {
          if (!inside(box, px, py)) continue;
          color = color.map((value, i) => value * (1 - box.opacity) + box.color[i]! * box.opacity);
          alpha = alpha * (1 - box.opacity) + box.opacity;
        }
        [r, g, b, a] = [r + color[0]!, g + color[1]!, b + color[2]!, a + alpha];
      }
      const at = y * (size * 4 + 1) + 1 + x * 4, count = SAMPLES * SAMPLES;
      rows.set([r, g, b].map((sum) => (a > 0 ? Math.round(sum / a) : 0)), at);
      rows[at + 3] = Math.round((255 * a) / count);
    }
  }
  return rows;
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(body.length + 8);
  frame.writeUInt32BE(data.length, 0);
  body.copy(frame, 4);
  frame.writeUInt32BE(crc32(body), body.length + 4);
  return frame;
}

/** `maskable`: the ground fills the square, and what is on it keeps clear of the edges. */
export function iconPng(size: number, maskable: boolean): Buffer {
  const ground = { x: 0, y: 0, width: SIDE, height: SIDE, radius: maskable ? 0 : 7, color: GROUND, opacity: 1 };
  const shrink = (box: Box): Box => ({
    ...box, x: 16 + (box.x - 16) * 0.8, y: 16 + (box.y - 16) * 0.8, width: box.width * 0.8, height: box.height * 0.8,
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 6], 8); // 8 bits each of red, green, blue and opacity
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header), chunk('IDAT', deflateSync(pixels(size, [ground, ...(maskable ? BARS.map(shrink) : BARS)]))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
