import stringWidth from 'string-width'

/** Longest part of a source line that is shown, in characters. */
const MAX_SHOWN_CHARACTERS = 100
/** Characters shown before the column of an error. */
const MAX_BEFORE_COLUMN = 80

/** Returns a line of source and a caret under a column, from 1; nothing for an empty line. */
export function caretLines(source: string, col: number): string[] {
  const characters = Array.from(source)
  const first = characters.findIndex((character) => character.trim() !== '')
  if (first < 0) return []
  const column = col - 1
  const hasColumn = column >= first && column <= characters.length
  const start = hasColumn ? Math.max(first, column - MAX_BEFORE_COLUMN) : first
  const show = (end: number): string => characters.slice(start, end).join('').replaceAll('\t', ' ')
  const line = `    ${show(start + MAX_SHOWN_CHARACTERS).trimEnd()}`
  return hasColumn ? [line, `    ${' '.repeat(stringWidth(show(column)))}^`] : [line]
}
