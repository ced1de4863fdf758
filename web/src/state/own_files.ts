// Folders of this page's own, in the origin private file system: each is whole once its facts are there, which are
// written last.

export async function ownFolder(name: string): Promise<FileSystemDirectoryHandle> {
  const root = await navigator.storage.getDirectory();
  return root.getDirectoryHandle(name, { create: true });
}

export async function writeFile(folder: FileSystemDirectoryHandle, name: string, content: Blob | string) {
  const file = await folder.getFileHandle(name, { create: true });
  const sink = await file.createWritable();
  try {
    // Streamed: a model can be larger than memory.
    if (typeof content === 'string') await sink.write(content);
    else await content.stream().pipeTo(sink, { preventClose: true });
    await sink.close();
  } catch (error) {
    await sink.abort().catch(() => {});
    throw error;
  }
}

export async function hasFile(folder: FileSystemDirectoryHandle, name: string): Promise<boolean> {
  try {
    await folder.getFileHandle(name);
    return true;
  } catch {
    return false;
  }
}

export const readFile = async (folder: FileSystemDirectoryHandle, name: string): Promise<File> =>
  (await folder.getFileHandle(name)).getFile();

/** Whether or not it is there. */
export async function dropFolder(parent: FileSystemDirectoryHandle, name: string): Promise<void> {
  try {
    await parent.removeEntry(name, { recursive: true });
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'NotFoundError')) throw error;
  }
}

// Two tabs of the page share a folder: what one is still writing is no remnant to the other.
export const alone = <T>(folder: string, step: () => Promise<T>): Promise<T> =>
  'locks' in navigator ? (navigator.locks.request(`octet-${folder}`, step) as Promise<T>) : step();
