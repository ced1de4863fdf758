// `octet serve` itself, with the page that was built; what it is asked for besides, tests ask as the page does.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PAGE } from './browser.mjs';
import { program } from './program.mjs';

export async function serveOctet(...flags) {
  const child = spawn(program, ['serve', '--port', '0', '--no-open', '--page', PAGE, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([
    once(lines, 'line'), once(child, 'exit').then(([status]) => { throw new Error(`octet serve ended with ${status}`); }),
  ]);
  const opened = /http:\S+/.exec(line)[0], { origin, hash } = new URL(opened);
  const token = new URLSearchParams(hash.slice(1)).get('token');
  return {
    url: `${origin}/`,
    opened,
    token,
    ask: (path, options = {}) => fetch(`${origin}/api/${path}`, { ...options, headers: { 'X-Octet-Token': token } }),
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
