// The page's end of a worker. Requests are done in their order; an abort ends the worker in whatever it is doing, and
// the next request starts another.
import type { Sample } from '../octet.js';
import { failure, OctetError } from './error.js';
import type { FromWorker, Kind, Measured, Replies, Requests, ToWorker } from './protocol.js';
import type { AutoFound, Hooks } from './types.js';

export interface WorkHooks extends Hooks {
  onMeasured?: (partial: Measured) => void;
  onFound?: (found: AutoFound) => void;
  /** Ends a search with what it has. */
  stop?: AbortSignal;
}

interface Pending {
  id: number;
  resolve(result: never): void;
  reject(error: unknown): void;
  hooks: WorkHooks;
  stream?: AsyncIterator<Sample>;
}

// Rejected when the signal says stop, even where `work` hangs.
function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

export class WorkClient {
  #createWorker: () => Worker;
  #worker: Worker | null = null;
  #current: Pending | null = null;
  #last: Promise<void> = Promise.resolve();
  #next = 1;
  #closed = false;

  constructor(createWorker: () => Worker) {
    this.#createWorker = createWorker;
  }

  async run<K extends Kind>(
    kind: K, payload: Requests[K], hooks: WorkHooks = {}, stream?: AsyncIterator<Sample>,
  ): Promise<Replies[K]> {
    const { signal } = hooks;
    const before = this.#last;
    let release!: () => void;
    this.#last = new Promise((resolve) => (release = resolve));
    try {
      signal?.throwIfAborted();
      await unlessAborted(before, signal);
      return await this.#work(kind, payload, hooks, stream);
    } finally {
      // What hangs in next() would hang here too, so it is not waited for.
      void stream?.return?.().catch(() => {});
      void before.then(release);
    }
  }

  /** Ends the worker, and with it what it held; the next request starts another. */
  rest() {
    if (!this.#current) this.#stop();
  }

  close() {
    this.#closed = true;
    this.#end(new DOMException('Octet was closed', 'AbortError'));
  }

  #work<K extends Kind>(
    kind: K, payload: Requests[K], hooks: WorkHooks, stream?: AsyncIterator<Sample>,
  ): Promise<Replies[K]> {
    const { signal, stop } = hooks;
    return new Promise<Replies[K]>((resolve, reject) => {
      if (this.#closed) throw new DOMException('Octet was closed', 'AbortError');
      signal?.throwIfAborted();
      const onAbort = () => this.#end(signal!.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      const id = this.#next++;
      const onStop = () => this.#post({ id, kind: 'stop' });
      const settle = () => {
        this.#current = null;
        signal?.removeEventListener('abort', onAbort);
        stop?.removeEventListener('abort', onStop);
      };
      this.#current = {
        id, hooks, stream,
        resolve: (result) => (settle(), resolve(result)),
        reject: (error) => (settle(), reject(error)),
      };
      this.#post({ id, kind, payload } as ToWorker);
      if (stop?.aborted) onStop();
      else stop?.addEventListener('abort', onStop, { once: true });
    });
  }

  #post(message: ToWorker) {
    try {
      this.#start().postMessage(message);
    } catch (error) {
      const problem = `what was given cannot be sent to a worker: ${error instanceof Error ? error.message : error}`;
      this.#current?.reject(failure('usage', problem, 'models are blobs, options plain objects'));
    }
  }

  #start(): Worker {
    if (this.#worker) return this.#worker;
    const worker = this.#createWorker();
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
    const current = this.#current;
    if (current?.id !== message.id) return;
    switch (message.event) {
      case 'progress':
        return this.#telling(() => current.hooks.onProgress?.(message.progress));
      case 'partial':
        return this.#telling(() => current.hooks.onMeasured?.(message.partial));
      case 'found':
        return this.#telling(() => current.hooks.onFound?.(message.found));
      case 'pull':
        return void this.#feed(current);
      case 'done':
        return current.resolve(message.result as never);
      case 'failed':
        if (message.fatal) this.#stop();
        return current.reject(new OctetError(message.error));
    }
  }

  // What the caller's function throws ends the work, and reaches the caller as it is.
  #telling(tell: () => void) {
    try {
      tell();
    } catch (error) {
      this.#end(error);
    }
  }

  async #feed({ id, stream }: Pending) {
    try {
      const { done, value } = await stream!.next();
      if (this.#current?.id === id) this.#post({ id, kind: 'sample', sample: done ? null : value });
    } catch (error) {
      if (this.#current?.id === id) this.#end(error);
    }
  }

  #stop() {
    this.#worker?.terminate();
    this.#worker = null;
  }

  #end(reason: unknown) {
    this.#stop();
    this.#current?.reject(reason);
  }
}
