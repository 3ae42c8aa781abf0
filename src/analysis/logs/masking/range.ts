const OPENING_BRACKET = 0x5b
/** Numbers in brackets of which two at least are the ends of a range. */
const RANGES = /\[(?:\d+[, ])*\d+-\d+(?:[, ]\d+(?:-\d+)?)*\]/y

/**
 * The end of many hosts written as one, `node-[40-63]` or `rack-b[0-7,12]`, that begin at `start`, where the first word ends at
 * `end`; `end` when there are none.
 */
export function rangeEnd(text: string, start: number, end: number): number {
  if (text.charCodeAt(end) !== OPENING_BRACKET || !/[\d-]/.test(text.slice(start, end))) return end
  RANGES.lastIndex = end
  return end + (RANGES.exec(text)?.[0].length ?? 0)
}
