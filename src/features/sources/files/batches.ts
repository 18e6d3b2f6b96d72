/**
 * Processes the items in batches, one batch after the other, the items of a batch at once. Returns the results in the
 * order of the items. Does not await a batch whose results are all present: of thousands of files, usually almost none
 * must be read.
 */
export async function mapInBatches<Item, Result>(
  items: readonly Item[],
  size: number,
  work: (item: Item) => Result | Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += size) {
    const batch = items.slice(start, start + size).map(work);
    const isDone = batch.every((result) => !(result instanceof Promise));
    // None of the results is a promise, as `isDone` shows.
    for (const result of isDone ? (batch as readonly Result[]) : await Promise.all(batch)) results.push(result);
  }
  return results;
}
