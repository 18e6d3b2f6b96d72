/** Limits of one request. */
export interface RequestLimits {
  readonly entries: number;
  readonly bytes: number;
  /** Maximum size of one entry, in bytes. A larger entry is sent alone, to be refused. */
  readonly entryBytes: number;
}

/**
 * Returns how many of the first entries fit in one request, at least one. An entry that is too large is counted only
 * when it is the first, and then alone.
 */
export function countWithin(sizes: Iterable<number>, { entries, bytes, entryBytes }: RequestLimits): number {
  let [count, total] = [0, 0];
  for (const size of sizes) {
    total += size;
    if (count > 0 && (count >= entries || total > bytes || size > entryBytes)) break;
    count += 1;
    if (size > entryBytes) break;
  }
  return Math.max(1, count);
}
