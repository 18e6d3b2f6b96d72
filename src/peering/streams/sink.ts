/** Where a stream is written to, whatever carries it. */
export interface Sink {
  /** Hands pieces of text over together. Says whether the reader keeps up: otherwise `drained` is called when it has. */
  write(pieces: readonly (string | Uint8Array)[]): boolean;
  /** Is called each time when the reader has caught up. */
  drained: () => void;
  /** Ends the stream after what was handed over. */
  end(): void;
  /** Gives it up at once. */
  destroy(): void;
}

/** A comment, which readers pass over. */
export const keepAlive = ':\n\n';

/** Writes the parts of an event around a common part that is written once for many. */
export function eventPieces(
  event: { readonly type: string; readonly id?: string },
  own: string,
  shared?: Uint8Array,
): readonly (string | Uint8Array)[] {
  const id = event.id === undefined ? '' : `id: ${event.id}\n`;
  const head = `${id}event: ${event.type}\ndata: {${own}`;
  return shared === undefined ? [`${head}}\n\n`] : [`${head},`, shared, '}\n\n'];
}
