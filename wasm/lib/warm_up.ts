// Starts the runtime before there is a model to run: reading and compiling it takes longer than most models do.
import { runtimeWith, Session } from './engine.js';

// The smallest model there is, in the wire format of protocol buffers: y = Identity(x), both float[1].
const text = (letters: string) => [...new TextEncoder().encode(letters)];
const field = (number: number, ...content: number[]) => [number << 3 | 2, content.length, ...content];
const float1 = (name: string) => [
  ...field(1, ...text(name)), ...field(2, ...field(1, 8, 1, ...field(2, ...field(1, 8, 1)))),
];
const IDENTITY = new Uint8Array([
  8, 8, // IR version 8
  ...field(7,
    ...field(1, ...field(1, ...text('x')), ...field(2, ...text('y')), ...field(4, ...text('Identity'))),
    ...field(2, ...text('g')), ...field(11, ...float1('x')), ...field(12, ...float1('y'))),
  ...field(8, 16, 13), // opset 13
]);

export async function warmUp(threads: number): Promise<void> {
  const session = await Session.written(runtimeWith(threads), 'warm-up', { model: IDENTITY }, true);
  await session.close();
}
