/**
 * The one-sided Smirnov test: the chance that two samples of one distribution lie at least as far
 * apart in the direction of a larger first sample (Smirnov 1944, the limit of large samples, which
 * exceeds the exact chance). Both samples in ascending order. `inflation` is the factor by which
 * dependence in time widens variances.
 */
export function smirnovTail(first: Float64Array, second: Float64Array, inflation = 1): number {
  const [n, m] = [first.length, second.length]
  let [i, j, distance] = [0, 0, 0]
  while (i < n && j < m) {
    const value = Math.min(first[i] ?? 0, second[j] ?? 0)
    while (i < n && first[i] === value) i += 1
    while (j < m && second[j] === value) j += 1
    distance = Math.max(distance, j / m - i / n)
  }
  return Math.exp((-2 * distance ** 2 * n * m) / (n + m) / inflation)
}
