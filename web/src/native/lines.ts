// A stream of bytes as lines of text, each as soon as it is whole.

/** Empty lines are left out. An abort ends the stream at its source. */
export async function* lines(stream: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let begun = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      begun += decoder.decode(value, { stream: !done });
      const whole = begun.split('\n');
      begun = done ? '' : whole.pop()!;
      yield* whole.filter((line) => line.trim() !== '');
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
