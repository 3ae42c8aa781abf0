import { displayWidth, oneLine } from './display-width.js'

/** How wide text is made that is not a table: what every terminal has. */
export const TEXT_WIDTH = 80

/** A text as lines of at most this many columns, each behind the indent; a word that is longer has a line of its own. */
export function wrapText(text: string, indent: string, width = TEXT_WIDTH): string {
  const lines: string[] = []
  let line = ''
  // A space between a number and its unit, or behind what it is called, is no place to break at.
  for (const word of oneLine(text).split(/(?<!\(p) (?!%)/)) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line === '' || indent.length + displayWidth(longer) <= width) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  lines.push(line)
  return lines.map((each) => `${indent}${each}\n`).join('')
}
