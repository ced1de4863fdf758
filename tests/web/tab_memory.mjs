// Peak memory of Chromium's tabs: the kernel's own high-water mark of every renderer process below this one.
import { readdirSync, readFileSync } from 'node:fs';

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // the process ended
  }
}

function descendants(root) {
  const parents = new Map();
  for (const entry of readdirSync('/proc')) {
    if (/^\d+$/.test(entry)) parents.set(Number(entry), Number(/^PPid:\s+(\d+)/m.exec(read(`/proc/${entry}/status`))?.[1]));
  }
  const below = (id) => parents.has(id) && (parents.get(id) === root || below(parents.get(id)));
  return [...parents.keys()].filter(below);
}

/** In bytes, of the largest renderer. */
export function peakTabMemory() {
  const renderers = descendants(process.pid).filter((id) => read(`/proc/${id}/cmdline`).includes('--type=renderer'));
  const peaks = renderers.map((id) => 1024 * Number(/^VmHWM:\s+(\d+) kB/m.exec(read(`/proc/${id}/status`))?.[1] ?? 0));
  if (peaks.length === 0) throw new Error('no tab is running');
  return Math.max(...peaks);
}
