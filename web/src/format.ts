// Numbers in words: megabytes of 10^6, three significant digits, "×" for ratios, one decimal of dB.

export function bytesText(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`;
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, 'KB'] : bytes < 1e9 ? [bytes / 1e6, 'MB'] : [bytes / 1e9, 'GB'];
  return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0)} ${unit}`;
}

export function countText(count: number): string {
  if (count < 1e4) return count.toLocaleString('en');
  return count < 1e6 ? `${Math.round(count / 1e3)} thousand` : `${(count / 1e6).toPrecision(3)} million`;
}

export function dbText(db: number | null): string {
  if (db === null || db <= -200) return 'not finite';
  return db >= 200 ? 'equal' : `${db.toFixed(1)} dB`;
}

export function msText(ms: number): string {
  return ms < 10 ? `${ms.toPrecision(2)} ms` : `${ms.toFixed(ms < 100 ? 1 : 0)} ms`;
}

export function timesText(ratio: number): string {
  return `${ratio < 10 ? ratio.toPrecision(2) : ratio.toFixed(0)}×`;
}

export function percentText(share: number): string {
  return `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}

/** Right answers lost, in percent; negative where more are right than before. */
export const lostText = (percent: number) => `${percent < -0.005 ? '−' : ''}${Math.abs(percent).toFixed(1)} %`;

export function plural(count: number, word: string): string {
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
}

/** Shares near one: 100 % means all, and 99.96 % is not all. */
export function agreementText(share: number): string {
  return `${(Math.floor(1000 * share) / 10).toFixed(share === 1 || share === 0 ? 0 : 1)} %`;
}
