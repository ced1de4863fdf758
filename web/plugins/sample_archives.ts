// 'samples:NAME' is the address of one archive with the samples of tests/data/NAME, and their labels: many small files would be as many
// requests.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import type { Plugin } from 'vite';

const PREFIX = 'samples:';
const WRITTEN = new Date('2026-01-01T00:00:00Z'); // the same archive from every build

function archive(folder: string): Uint8Array {
  const files: Record<string, Uint8Array> = {};
  for (const part of ['calib', 'eval']) {
    const names = readdirSync(join(folder, part)).filter((name) => /\.npz$|^labels\.json$/.test(name)).sort();
    for (const name of names) files[`${part}/${name}`] = readFileSync(join(folder, part, name));
  }
  return zipSync(files, { level: 9, mtime: WRITTEN });
}

export function sampleArchives(data: string): Plugin {
  let serving = false;
  return {
    name: 'sample-archives',
    configResolved(config) {
      serving = config.command === 'serve';
    },
    resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : null),
    load(id) {
      if (!id.startsWith(`\0${PREFIX}`)) return null;
      const name = id.slice(PREFIX.length + 1);
      if (serving) return `export default '/@samples/${name}.zip';`;
      const file = this.emitFile({ type: 'asset', name: `${name}.zip`, source: archive(join(data, name)) });
      return `export default import.meta.ROLLUP_FILE_URL_${file};`;
    },
    configureServer(server) {
      server.middlewares.use('/@samples/', (request, response) => {
        response.end(archive(join(data, request.url!.replace(/^\/|\.zip$/g, ''))));
      });
    },
  };
}
