/** Values that follow each other in a series. */
interface Run {
  /** The place of the first. */
  readonly from: number
  /** The place behind the last. */
  readonly to: number
}

/**
 * The longest run of values of a kind, the first of those that are as long; from 0 to 0 where there is none. A gap (NaN) is a value
 * like others: the kind says whether it is in a run.
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
