import { AppError } from '../../errors/app-error.js'

/**
 * Receives a group of equal values: the number of values before it, its size, and how many come
 * from the first sample.
 */
export type TakeTie = (before: number, equal: number, fromFirst: number) => void

/**
 * Walks two samples in ascending order, with each value of `first` reduced by `shift`, and passes
 * on each group of equal values. Time is linear. Raises `evaluation_failed` if a shifted value is
 * NaN.
 */
export function walkTies(first: Float64Array, second: Float64Array, shift: number, take: TakeTie): void {
  const [n, m] = [first.length, second.length]
  let [i, j] = [0, 0]
  while (i < n || j < m) {
    const x = i < n ? (first[i] ?? 0) - shift : Infinity
    const y = j < m ? (second[j] ?? 0) : Infinity
    const value = x < y ? x : y
    const before = i + j
    const start = i
    while (i < n && (first[i] ?? 0) - shift === value) i += 1
    while (j < m && (second[j] ?? 0) === value) j += 1
    const equal = i + j - before
    if (equal === 0) throw noNumber()
    take(before, equal, i - start)
  }
}

/** The error for ranks of NaN: nothing equals it, so a walk along ranks would never end. */
export function noNumber(): AppError {
  return new AppError('evaluation_failed', 'a shifted value is not a number')
}
