/** So many are under way at once: a thousand would hold the thread for tens of milliseconds when they end. */
const AT_ONCE = 32

/** What comes of work on each item, in their order. Rejects as the first that does. */
export async function inGroups<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let start = 0; start < items.length; start += AT_ONCE)
    results.push(...(await Promise.all(items.slice(start, start + AT_ONCE).map(work))))
  return results
}
