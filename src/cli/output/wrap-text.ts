import { displayWidth, oneLine } from './display-width.js'

/** Width of wrapped text, which every terminal has. */
export const TEXT_WIDTH = 80

/**
 * Wraps text at a number of columns and indents each line. Longer words get a line of their own.
 */
export function wrapText(text: string, indent: string, width = TEXT_WIDTH): string {
  const lines: string[] = []
  let line = ''
  // Keep numbers and units together, and `(p` and its value.
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
