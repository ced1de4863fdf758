// Arithmetic of the charts: scales, ticks, and names that are too long for their place.

export type Scale = (value: number) => number;

/** From 0..`most` to `from`..`to`; values beyond are held at the ends. */
export function fromZero(most: number, from: number, to: number): Scale {
  const share = most > 0 ? 1 / most : 0;
  return (value) => from + Math.min(1, Math.max(0, value * share)) * (to - from);
}

export function between(low: number, high: number, from: number, to: number): Scale {
  const width = high > low ? high - low : 1;
  return (value) => from + ((value - low) / width) * (to - from);
}

/** Round values from 0 to `most`, at most `count` steps. */
export function ticks(most: number, count: number): number[] {
  if (!(most > 0) || !Number.isFinite(most)) return [0];
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999)!;
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  const before = sorted[low] ?? 0;
  const after = sorted[Math.min(low + 1, sorted.length - 1)] ?? before;
  return before + (at - low) * (after - before);
}

/** Width of text in pixels, near enough to choose places: digits and small letters of system fonts. */
export function textWidth(text: string, size: number): number {
  return text.length * size * 0.62;
}

/** Names of nodes differ at their ends; what goes is the middle. */
export function shorten(name: string, room: number, size = 13): string {
  const letters = Math.max(5, Math.floor(room / (size * 0.62)));
  if (name.length <= letters) return name;
  const tail = Math.ceil((letters - 1) * 0.6);
  return `${name.slice(0, letters - 1 - tail)}…${name.slice(-tail)}`;
}

/** Where dots of a row go so that they do not cover each other: offsets from its middle, in units of a dot. */
export function swarm(places: readonly number[], dot: number): number[] {
  const taken = new Map<number, number>();
  return places.map((place) => {
    const column = Math.round(place / dot);
    const before = taken.get(column) ?? 0;
    taken.set(column, before + 1);
    return before % 2 === 0 ? before / 2 : -(before + 1) / 2; // 0, -1, 1, -2, 2 …
  });
}

/** Error as a share of the signal, from decibels: 40 dB are 1 %. */
export function errorShare(db: number | null): number {
  if (db === null || db <= -200) return Number.POSITIVE_INFINITY;
  return db >= 200 ? 0 : 10 ** (-db / 20);
}
