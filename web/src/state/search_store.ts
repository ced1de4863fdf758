// What searches found, in the origin private file system: a folder each, with a file for every plan, the log, and
// search.json, which is written last. Of a model there is the newest, and of all models the newest few.
import { bytesOf } from 'octet-wasm';
import type { ModelFiles, Plan } from 'octet-wasm';
import type { Found } from './auto';
import { alone, dropFolder, hasFile, ownFolder, readFile, writeFile } from './own_files';

const FOLDER = 'searches';
const FACTS = 'search.json';
const LOG = 'log.json';
// Of the layout below and of what is in it.
const VERSION = 1;
const MOST = 8;
const PART = 16e6;

interface Kept extends Omit<Found, 'source' | 'plans' | 'log'> {
  version: number;
  model: { bytes: number; digest: string };
  plans: number;
}

const planName = (index: number) => `plan_${index}.json`;

async function hashed(blob: Blob): Promise<ArrayBuffer> {
  return crypto.subtle.digest('SHA-256', await blob.arrayBuffer());
}

// Of all its bytes, piece by piece: a model can be larger than memory.
async function computeDigest({ model, files = {} }: ModelFiles): Promise<string> {
  const parts: ArrayBuffer[] = [];
  for (const blob of [model, ...Object.keys(files).sort().map((name) => files[name]!)]) {
    for (let at = 0; at < blob.size; at += PART) parts.push(await hashed(blob.slice(at, at + PART)));
  }
  return [...new Uint8Array(await hashed(new Blob(parts)))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

const digests = new WeakMap<Blob, Promise<string>>();

function digestOf(source: ModelFiles): Promise<string> {
  const digest = digests.get(source.model) ?? computeDigest(source);
  digests.set(source.model, digest);
  return digest;
}

// Null where it is not whole, or another version of the page kept it.
async function factsIn(folder: FileSystemDirectoryHandle): Promise<Kept | null> {
  try {
    const facts = JSON.parse(await (await readFile(folder, FACTS)).text()) as Kept;
    return facts.version === VERSION ? facts : null;
  } catch {
    return null;
  }
}

async function allKept(): Promise<{ id: string; facts: Kept | null }[]> {
  const kept: { id: string; facts: Kept | null }[] = [];
  for await (const folder of (await ownFolder(FOLDER)).values()) {
    const facts = folder.kind === 'directory' ? await factsIn(folder as FileSystemDirectoryHandle) : null;
    kept.push({ id: folder.name, facts });
  }
  return kept;
}

async function makeRoom(newest: Kept) {
  const others = (await allKept()).filter(({ id }) => id !== newest.id);
  const age = ({ facts }: { facts: Kept | null }) => facts?.created ?? 0;
  const outdone = others.filter(({ facts }) => !facts || facts.model.digest === newest.model.digest);
  const rest = others.filter((one) => !outdone.includes(one)).sort((a, b) => age(b) - age(a));
  for (const { id } of [...outdone, ...rest.slice(MOST - 1)]) await dropFolder(await ownFolder(FOLDER), id);
}

/** Plans are written once, all else whenever there is more of it. */
export async function keepSearch({ source, plans, log, ...found }: Found): Promise<void> {
  const model = { bytes: bytesOf(source), digest: await digestOf(source) };
  await alone(FOLDER, async () => {
    const folder = await (await ownFolder(FOLDER)).getDirectoryHandle(found.id, { create: true });
    for (const [i, plan] of plans.entries()) {
      if (!(await hasFile(folder, planName(i)))) await writeFile(folder, planName(i), JSON.stringify(plan));
    }
    if (log !== undefined) await writeFile(folder, LOG, log);
    const kept: Kept = { ...found, version: VERSION, model, plans: plans.length };
    await writeFile(folder, FACTS, JSON.stringify(kept));
    await makeRoom(kept);
  });
}

/** What a search of this very model found, in this visit or an earlier one. */
export async function keptSearch(source: ModelFiles): Promise<Found | null> {
  const same = ({ facts }: { facts: Kept | null }) => facts?.model.bytes === bytesOf(source);
  const candidates = (await alone(FOLDER, allKept)).filter(same);
  if (candidates.length === 0) return null;
  const digest = await digestOf(source);
  const fitting = candidates.find(({ facts }) => facts!.model.digest === digest);
  if (!fitting) return null;
  return alone(FOLDER, async () => {
    const folder = await (await ownFolder(FOLDER)).getDirectoryHandle(fitting.id);
    const { version: _, model: __, plans: count, ...found } = fitting.facts!;
    const plans: Plan[] = [];
    for (let i = 0; i < count; ++i) plans.push(JSON.parse(await (await readFile(folder, planName(i))).text()) as Plan);
    const log = (await hasFile(folder, LOG)) ? await (await readFile(folder, LOG)).text() : undefined;
    return { ...found, source, plans, ...(log !== undefined && { log }) };
  });
}

export const forgetSearch = (id: string): Promise<void> =>
  alone(FOLDER, async () => dropFolder(await ownFolder(FOLDER), id));
