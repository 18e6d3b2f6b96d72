/** Parts of one event, in order. */
export type Chunks = readonly (string | Uint8Array)[];

/** Destination of a stream, independent of the transport. */
export interface Sink {
  /**
   * Writes the parts of an event together. Returns whether the reader keeps up; otherwise `onDrain` is called when the
   * reader has caught up.
   */
  write(pieces: Chunks): boolean;
  /** Called each time when the reader has caught up. */
  onDrain: () => void;
  /** Ends the stream after everything that was written. */
  end(): void;
  /** Closes the connection at once. */
  destroy(): void;
}

/** Comment of an event stream, which readers ignore. */
export const keepAlive = ':\n\n';

const eventEnd = Buffer.from('}\n\n');
const maxCopiedBytes = 16_384;

/** Returns the parts of an event around a shared part, which is encoded once for many streams. */
export function eventChunks(
  event: { readonly type: string; readonly id?: string },
  own: string,
  shared?: Uint8Array,
): Chunks {
  const id = event.id === undefined ? '' : `id: ${event.id}\n`;
  const head = `${id}event: ${event.type}\ndata: {${own}`;
  if (shared === undefined) return [`${head}}\n\n`];
  // Copying a small part is faster than three writes.
  if (shared.length < maxCopiedBytes) return [Buffer.concat([Buffer.from(`${head},`), shared, eventEnd])];
  return [`${head},`, shared, eventEnd];
}
