import type { RE2JS } from 're2js'

/** A match by its extent in UTF-16 units, and the text of a group by number or name. */
export interface Match {
  readonly start: number
  readonly end: number
  group(key: number | string): string
}

/**
 * The matches from left to right as Go finds them: none overlap, and an empty one is not taken right after another.
 * A match is valid until the next one is asked for.
 */
export function* findMatches(regex: RE2JS, text: string): Generator<Match> {
  const matcher = regex.matcher(text)
  const names = new Set(Object.keys(regex.namedGroups()))
  const group = (key: number | string): string => {
    const isKnown = typeof key === 'number' ? key <= regex.groupCount() : names.has(key)
    return isKnown ? (matcher.group(key) ?? '') : ''
  }
  let previousEnd = -1
  let searchAt = 0
  while (searchAt <= text.length && matcher.find(searchAt)) {
    const start = matcher.start()
    const end = matcher.end()
    const isEmpty = end === searchAt
    if (!isEmpty || start !== previousEnd) yield { start, end, group }
    previousEnd = end
    searchAt = isEmpty ? end + unitsAt(text, end) : end
  }
}

function unitsAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
}
