// What `octet serve` does for the page that came from it: takes files and times models. It is on this computer.
import { failure, OctetError } from 'octet-wasm';
import type { WorkError } from 'octet-wasm';
import { lines } from './lines';
import { keepToken, token } from './token';

export interface ServerStatus {
  octet: string;
  busy: boolean;
  /** Of all files together. */
  max_bytes: number;
  threads: number;
  /** Samples that the server was started with, to check on and to learn ranges from. */
  data: { description: string } | null;
  calib: { description: string } | null;
}

export interface BenchRequest {
  /** The first is the baseline. */
  models: string[];
  /** Names of files; 'served': those that the server was started with; absent: made-up inputs. */
  data?: string[] | 'served';
  synthetic?: { count?: number; seed?: number };
  /** Of made-up inputs. */
  dims?: Record<string, number>;
  threads?: number[];
  runs?: number;
  /** After which timing ends early. */
  seconds?: number;
  /** Whether to look at memory too; true when absent. */
  memory?: boolean;
  plan?: object;
  calibrated_on?: number;
  /** Of the verdicts. */
  thresholds?: { min_sqnr_db?: number; min_smaller?: number; slower?: number; faster?: number };
}

export interface CalibrateRequest {
  model: string;
  calib: 'served';
  samples?: { limit?: number; shuffle?: number; image?: object };
  options: object;
}

export interface LearnedNatively {
  ranges: string;
  samples: number;
  description: string;
  notes: string[];
}

export interface ServerProgress {
  stage: string;
  done: number;
  total: number | null;
}

const GONE = 'octet serve does not answer';

const said = (value: unknown) => (typeof value === 'string' ? value : '');

// {"error": {code, where, what, next}} of the server.
function asFailure(error: unknown): OctetError {
  const from = (error ?? {}) as Record<string, unknown>;
  if (from.code === 'busy') return failure('run', 'octet serve is at work for another tab', 'wait for it, then measure again');
  const { error: told } = failure(
    'run', said(from.what) || 'octet serve could not do it', said(from.next), said(from.where),
  );
  return new OctetError({ ...told, code: (said(from.code) || 'run') as WorkError['code'] });
}

function send(path: string, signal?: AbortSignal, options: RequestInit = {}): Promise<Response> {
  const headers = { ...(options.headers as Record<string, string>), 'X-Octet-Token': token.peek() ?? '' };
  return fetch(new URL(`/api/${path}`, location.origin), {
    ...options, headers, cache: 'no-store', ...(signal && { signal }),
  });
}

async function ask(path: string, signal?: AbortSignal, options?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await send(path, signal, options);
  } catch {
    signal?.throwIfAborted();
    throw failure('run', GONE, 'start it again and open the address that it prints');
  }
  if (response.ok) return response;
  let body: { error?: unknown } = {};
  try {
    body = (await response.json()) as typeof body;
  } catch {
    // Whoever answers is not octet.
  }
  throw asFailure(body.error ?? { what: `${GONE} as expected (${response.status})`, next: 'start it again' });
}

/** Whether the page came from `octet serve`, which is still there and knows the token. */
export async function serverStatus(): Promise<ServerStatus | null> {
  if (token.peek() === null) return null;
  try {
    const response = await send('status');
    // Some other server, or one that was started anew: its token is another.
    if (!response.ok) keepToken(null);
    const status = response.ok ? ((await response.json()) as ServerStatus) : null;
    return typeof status?.octet === 'string' ? status : null;
  } catch {
    // Not there, or the page is being left.
    return null;
  }
}

export async function putFile(name: string, file: Blob, signal: AbortSignal): Promise<void> {
  await ask(`files/${name}`, signal, { method: 'PUT', body: file });
}

/** Gives the server's room back; that it is gone already is no matter. */
export async function deleteFile(name: string): Promise<void> {
  await ask(`files/${name}`, undefined, { method: 'DELETE', keepalive: true }).catch(() => {});
}

// The last line of what the server says of a job; an abort ends the work there too.
async function work(
  path: string, request: object, signal: AbortSignal, tell: (progress: ServerProgress) => void,
): Promise<Record<string, unknown>> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await ask(path, signal, { method: 'POST', headers, body: JSON.stringify(request) });
  for await (const line of lines(response.body!, signal)) {
    const said = JSON.parse(line) as Record<string, unknown>;
    if (said.error !== undefined) throw asFailure(said.error);
    if (said.progress === undefined) return said;
    tell(said.progress as ServerProgress);
  }
  throw failure('run', 'octet serve ended before it was done', 'look at what it prints, then try again');
}

type Tell = (progress: ServerProgress) => void;

/** Times models; gives the report as JSON. */
export const benchOnServer = async (request: BenchRequest, signal: AbortSignal, tell: Tell): Promise<unknown> =>
  (await work('bench', request, signal, tell)).report;

export const calibrateOnServer = async (request: CalibrateRequest, signal: AbortSignal, tell: Tell) =>
  (await work('calibrate', request, signal, tell)) as unknown as LearnedNatively;
