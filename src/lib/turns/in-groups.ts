/**
 * Number of parallel tasks. A thousand that end together would block the thread for tens of
 * milliseconds.
 */
const AT_ONCE = 32

/** Runs work on each item and returns the results in order. Rejects with the first rejection. */
export async function inGroups<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let start = 0; start < items.length; start += AT_ONCE)
    results.push(...(await Promise.all(items.slice(start, start + AT_ONCE).map(work))))
  return results
}
