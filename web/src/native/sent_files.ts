// What the server is sent of two models, under names that it takes.
import type { ModelFiles } from 'octet-wasm';
import { refusal } from './bench_report';

const FORM = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;

export interface SentFiles {
  /** The float model, then the quantized one. */
  models: string[];
  files: Map<string, Blob>;
  /** What the models are called here, by their names there. */
  names: Map<string, string>;
}

/** Other characters become "-"; the end of a long name stays. */
export const serverName = (name: string) => {
  const plain = name.replace(/[^A-Za-z0-9._-]/g, '-').slice(-120);
  return plain.startsWith('.') ? `_${plain}` : plain;
};

export function sentFiles(source: ModelFiles, output: ModelFiles): SentFiles {
  const files = new Map<string, Blob>(), names = new Map<string, string>();
  const models = [source, output].map(({ name, model, files: external = {} }, i) => {
    const plain = serverName(name), sent = files.has(plain) ? `${i}-${plain}` : plain;
    files.set(sent, model);
    names.set(sent, name);
    // A model finds its external data by the name that it gives it, and by no other.
    for (const [location, blob] of Object.entries(external)) {
      if (!FORM.test(location) || (files.has(location) && files.get(location) !== blob)) {
        throw refusal(
          `its weights lie in “${location}”, a name that octet serve does not take`,
          'run octet bench on the command line and drop its report', name,
        );
      }
      files.set(location, blob);
    }
    return sent;
  });
  return { models, files, names };
}
