/**
 * A compressed archive that can be read several times. Every read must yield the same bytes, because rows are read
 * without computing the checksums again.
 */
export interface PackedArchive {
  /** Number of bytes. The limits of the content depend on it. */
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

/**
 * Size of the pieces in which an archive is read, in bytes: other work on the event loop gets its turn between two
 * pieces.
 */
export const packedChunkBytes = 256 * 1024;

/** Returns the archive with these bytes. */
export function archiveOfBytes(bytes: Uint8Array): PackedArchive {
  return {
    size: bytes.length,
    async *read() {
      for (let at = 0; at < bytes.length; at += packedChunkBytes) yield bytes.subarray(at, at + packedChunkBytes);
    },
  };
}
