/** Values that follow each other in a series. */
interface Run {
  /** The place of the first value. */
  readonly from: number
  /** The place after the last value. */
  readonly to: number
}

/**
 * The longest run of values that match; the first of equally long ones, and from 0 to 0 if there is
 * none. Gaps (NaN) are passed to the predicate like other values.
 */
export function longestRun(values: ArrayLike<number>, isOfKind: (value: number) => boolean): Run {
  let longest: Run = { from: 0, to: 0 }
  let from = 0
  for (let place = 0; place <= values.length; place += 1) {
    const value = values[place]
    if (value !== undefined && isOfKind(value)) continue
    if (place - from > longest.to - longest.from) longest = { from, to: place }
    from = place + 1
  }
  return longest
}
