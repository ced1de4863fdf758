// Hands a file to the browser's downloads.
import type { ModelFiles } from '../package';

export function saveBlob(blob: Blob, name: string) {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

export const saveText = (text: string, name: string, type: string) => saveBlob(new Blob([text], { type }), name);

/** The model, and its external data where it has some. */
export function saveModel({ name, model, files = {} }: ModelFiles) {
  saveBlob(model, name);
  for (const [external, blob] of Object.entries(files)) saveBlob(blob, external);
}
