// What the server is sent of models, under names that it takes, and for as long as it works on them.
import { failure } from 'octet-wasm';
import type { ModelFiles } from 'octet-wasm';
import { deleteFile, putFile } from './server';

const FORM = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;

export interface SentFiles {
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

export function sentFiles(given: ModelFiles[]): SentFiles {
  const files = new Map<string, Blob>(), names = new Map<string, string>();
  const models = given.map(({ name, model, files: external = {} }, i) => {
    const plain = serverName(name), sent = files.has(plain) ? `${i}-${plain}` : plain;
    files.set(sent, model);
    names.set(sent, name);
    // A model finds its external data by the name that it gives it, and by no other.
    for (const [location, blob] of Object.entries(external)) {
      if (!FORM.test(location) || (files.has(location) && files.get(location) !== blob)) {
        throw failure(
          'data', `its weights lie in “${location}”, a name that octet serve does not take`,
          'use the command line', name,
        );
      }
      files.set(location, blob);
    }
    return sent;
  });
  return { models, files, names };
}

/** Sends models and samples, works with them, and gives the server's room back: nothing there is needed again. */
export async function withSent<T>(
  sending: SentFiles, samples: Map<string, Blob>, signal: AbortSignal, tell: (done: number, total: number) => void,
  steps: () => Promise<T>,
): Promise<T> {
  const all = [...sending.files, ...samples];
  const sent: string[] = [];
  try {
    for (const [i, [name, blob]] of all.entries()) {
      tell(i, all.length);
      await putFile(name, blob, signal);
      sent.push(name);
    }
    return await steps();
  } finally {
    await Promise.all(sent.map(deleteFile));
  }
}
