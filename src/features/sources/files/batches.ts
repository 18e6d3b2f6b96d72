/**
 * Does the work for all items in order of batches, those of one batch at once; returns the results in the order of the
 * items. Work that is done already is not waited for: of thousands of files mostly nothing is to be read.
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
    // Nothing in it is a promise, as was just seen.
    for (const result of isDone ? (batch as readonly Result[]) : await Promise.all(batch)) results.push(result);
  }
  return results;
}
