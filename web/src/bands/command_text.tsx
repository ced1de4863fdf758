// Commands to copy, as they are shown.
/** A command line that breaks before a flag, not inside of one. */
export function CommandText({ text }: { text: string }) {
  const words = text.split(/ (?=-)/);
  return <code>{words.map((word, i) => [i > 0 && ' ', <span key={word}>{word}</span>])}</code>;
}
