// The page's end of the worker. One request at a time: a new one, or an abort, ends the worker in whatever it is doing.
// The next request starts another.
import { failure, WorkFailure } from './protocol';
import type { FromWorker, Kind, Progress, Replies, Requests, ToWorker } from './protocol';

interface Pending {
  resolve(result: never): void;
  reject(error: Error): void;
  progress?: (progress: Progress) => void;
}

export class WorkClient {
  #worker: Worker | null = null;
  #pending = new Map<number, Pending>();
  #next = 1;

  run<K extends Kind>(
    kind: K, payload: Requests[K], signal: AbortSignal, progress?: (progress: Progress) => void,
  ): Promise<Replies[K]> {
    if (this.#pending.size > 0) this.#end(new DOMException('Replaced by newer work', 'AbortError'));
    const id = this.#next++;
    return new Promise<Replies[K]>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = () => this.#end(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      const settle = () => signal.removeEventListener('abort', onAbort);
      this.#pending.set(id, {
        resolve: (result) => (settle(), resolve(result)),
        reject: (error) => (settle(), reject(error)),
        progress,
      });
      this.#start().postMessage({ id, kind, payload } as ToWorker);
    });
  }

  #start(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#receive(data);
    // A worker that dies takes no promise with it.
    worker.onerror = (event) => {
      event.preventDefault();
      this.#end(failure('internal', `the worker stopped: ${event.message || 'it could not be loaded'}`, 'try again'));
    };
    worker.onmessageerror = () => this.#end(failure('internal', 'a message of the worker could not be read'));
    return (this.#worker = worker);
  }

  #receive(message: FromWorker) {
    const pending = this.#pending.get(message.id);
    if (!pending) return;
    if (message.event === 'progress') return pending.progress?.(message.progress);
    this.#pending.delete(message.id);
    if (message.event === 'done') pending.resolve(message.result as never);
    else pending.reject(new WorkFailure(message.error));
  }

  #end(reason: Error) {
    this.#worker?.terminate();
    this.#worker = null;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(reason);
  }
}
