/** Caches the results of a pure function of one string, up to `maxEntries`. */
export function remembered<T>(compute: (argument: string) => T, maxEntries: number): (argument: string) => T
/**
 * Caches the results of a pure function of any arguments. `keyOf` must return the same string for
 * arguments with the same result.
 */
export function remembered<Arguments extends readonly unknown[], T>(
  compute: (...args: Arguments) => T,
  maxEntries: number,
  keyOf: (...args: Arguments) => string,
): (...args: Arguments) => T
export function remembered<Arguments extends readonly unknown[], T>(
  compute: (...args: Arguments) => T,
  maxEntries: number,
  keyOf: (...args: Arguments) => string = (...[text]) => String(text),
): (...args: Arguments) => T {
  const results = new Map<string, { readonly value: T }>()
  return (...args) => {
    const key = keyOf(...args)
    const known = results.get(key)
    if (known !== undefined) return known.value
    const value = compute(...args)
    // The whole cache is cleared, because frequent entries return soon and an order costs every
    // call.
    if (results.size >= maxEntries) results.clear()
    results.set(key, { value })
    return value
  }
}
