/** A name at a greater distance is not suggested. */
const MAX_DISTANCE = 3

/** The name that was most likely meant. Undefined if none is similar. */
export function nearestName(written: string, names: readonly string[]): string | undefined {
  const limit = Math.min(MAX_DISTANCE, Math.max(1, Math.floor(written.length / 2)))
  const ranked = names
    // Names of very different length are excluded, because comparing a text of a million characters
    // takes long.
    .filter((name) => Math.abs(name.length - written.length) <= limit)
    .map((name) => ({ name, distance: editDistance(written.toLowerCase(), name.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
  return ranked[0]?.name
}

/** Returns `, did you mean x?`, or an empty string. */
export function suggestion(nearest: string | undefined): string {
  return nearest === undefined ? '' : `, did you mean ${nearest}?`
}

/**
 * Number of insertions, deletions, replacements and swaps of adjacent characters between two
 * strings: the restricted Damerau-Levenshtein distance.
 */
export function editDistance(first: string, second: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: second.length + 1 }, (_, column) => column)
  for (let row = 1; row <= first.length; row++) {
    const current = [row]
    for (let column = 1; column <= second.length; column++) {
      const isSame = first[row - 1] === second[column - 1]
      const isSwap = first[row - 1] === second[column - 2] && first[row - 2] === second[column - 1]
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isSwap ? at(beforeLast, column - 2) + 1 : Infinity,
      )
    }
    beforeLast = last
    last = current
  }
  return at(last, second.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity
}
