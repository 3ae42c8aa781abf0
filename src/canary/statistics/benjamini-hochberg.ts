/**
 * p-values adjusted for the false discovery rate (Benjamini and Hochberg 1995), in the given order:
 * test i is a discovery at rate q if its adjusted value is at most q.
 */
export function benjaminiHochberg(pValues: readonly number[]): number[] {
  const ranked = pValues.map((p, index) => ({ p, index })).sort((a, b) => b.p - a.p)
  const adjusted = new Array<number>(pValues.length).fill(1)
  let least = 1
  ranked.forEach(({ p, index }, place) => {
    least = Math.min(least, (p * ranked.length) / (ranked.length - place))
    adjusted[index] = least
  })
  return adjusted
}

/**
 * p-values adjusted for the chance of any false positive among them (Holm 1979), in the given
 * order: test i is significant at alpha if its adjusted value is at most alpha.
 */
export function holm(pValues: readonly number[]): number[] {
  const ranked = pValues.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p)
  const adjusted = new Array<number>(pValues.length).fill(1)
  let most = 0
  ranked.forEach(({ p, index }, place) => {
    most = Math.max(most, Math.min(1, p * (ranked.length - place)))
    adjusted[index] = most
  })
  return adjusted
}
