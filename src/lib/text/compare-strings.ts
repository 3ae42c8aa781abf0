/** Compares strings by code points, which equals OPA's order by UTF-8 bytes. */
export function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x === y) continue
    // A surrogate is part of a code point above all other UTF-16 units.
    const surrogates = Number(isSurrogate(x)) - Number(isSurrogate(y))
    return surrogates === 0 ? x - y : surrogates
  }
  return a.length - b.length
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}
