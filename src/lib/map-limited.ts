/** Maps values by something asynchronous, at most `limit` at the same time; the results are in the order of the values. */
export async function mapLimited<T, R>(
  values: readonly T[],
  limit: number,
  map: (value: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const queue = values.entries()
  const work = async (): Promise<void> => {
    for (const [index, value] of queue) results[index] = await map(value)
  }
  await Promise.all(Array.from({ length: Math.min(limit, values.length) }, work))
  return results
}
