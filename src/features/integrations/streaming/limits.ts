/** What one request may hold. */
export interface RequestLimits {
  readonly entries: number;
  readonly bytes: number;
  /** What one entry may have; a larger one goes by itself, to be refused. */
  readonly entryBytes: number;
}

/** How many of some entries fit in one request, at least one; an entry that is too large ends it. */
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
