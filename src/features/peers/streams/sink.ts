/** Parts of one event, in order. */
export type Chunks = readonly (string | Uint8Array)[];

/** Where a stream is written to, whatever carries it. */
export interface Sink {
  /** Writes pieces of text together. Says whether the reader keeps up: otherwise `drained` is called when it has. */
  write(pieces: Chunks): boolean;
  /** Is called each time when the reader has caught up. */
  drained: () => void;
  /** Ends the stream after what was handed over. */
  end(): void;
  /** Gives it up at once. */
  destroy(): void;
}

/** A comment, which readers pass over. */
export const keepAlive = ':\n\n';

const tail = Buffer.from('}\n\n');
const copied = 16_384;

/** Writes the parts of an event around a common part that is written once for many. */
export function eventChunks(
  event: { readonly type: string; readonly id?: string },
  own: string,
  shared?: Uint8Array,
): Chunks {
  const id = event.id === undefined ? '' : `id: ${event.id}\n`;
  const head = `${id}event: ${event.type}\ndata: {${own}`;
  if (shared === undefined) return [`${head}}\n\n`];
  // To copy little is faster than to write in three pieces.
  if (shared.length < copied) return [Buffer.concat([Buffer.from(`${head},`), shared, tail])];
  return [`${head},`, shared, tail];
}
