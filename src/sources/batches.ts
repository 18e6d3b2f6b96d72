/** Does the work for all items in order of batches, those of one batch at once; answers the results in the order of the items. */
export async function mapInBatches<Item, Result>(
  items: readonly Item[],
  size: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += size) {
    for (const result of await Promise.all(items.slice(start, start + size).map(work))) results.push(result);
  }
  return results;
}
