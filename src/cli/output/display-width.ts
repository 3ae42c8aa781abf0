import stringWidth from 'string-width'

import { printable } from '../../lib/text/shown-text.js'

/** Returns the width of a text in terminal columns. */
export function displayWidth(text: string): number {
  return stringWidth(text)
}

/** Shortens a text to a number of columns and ends it with `…`. */
export function shortenTo(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  let [kept, width] = ['', 0]
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += displayWidth(segment)
    if (width >= columns) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

/** Returns an untrusted text on one line, without control characters. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s*[\r\n\u2028\u2029]\s*/g, ' '))
}
