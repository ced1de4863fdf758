// One kind of error: what went wrong, where, and what to do about it, in the core's words or in the same form.
import type { ErrorCode, Failure } from '../octet.js';

/** `missing`: the external data file that was not there, where that is what is wrong. */
export type WorkError = Failure['error'] & { missing?: string };

/** Everything that fails but an abort, which rejects with the signal's reason. */
export class OctetError extends Error {
  override readonly name = 'OctetError';

  constructor(readonly error: WorkError) {
    super(error.message);
  }
}

// What the command line would end with.
const STATUS: Record<ErrorCode, number> = {
  internal: 70, usage: 2, read: 3, malformed: 4, unsupported: 5, write: 6, data: 7, non_finite: 8, run: 9, quality: 10,
  interrupted: 130,
};

export function failure(code: ErrorCode, problem: string, next = '', where = ''): OctetError {
  const message = [where && `${where}: `, problem, next && `; ${next}`].join('');
  return new OctetError({ code, where, problem, next, message, exit_status: STATUS[code] });
}

/** A result of the core, or its failure thrown. */
export function checked<T extends object>(result: T | Failure): T {
  if ('error' in result) throw new OctetError((result as Failure).error);
  return result;
}

// In the words of browsers, of WebAssembly and of the runtime.
// A size of more than 32 bits is an overflow there.
const MEMORY =
  /out of memory|OOM|bad.alloc|allocation failed|failed to allocate|invalid( typed)? array length|integer overflow/i;

export function wantsMemory(error: unknown): boolean {
  return !(error instanceof OctetError) && MEMORY.test(error instanceof Error ? error.message : String(error));
}

/** As the core says it of itself. */
export const outOfMemory = (where: string) =>
  failure('unsupported', 'does not fit the memory of a page', 'use the command line', where);
