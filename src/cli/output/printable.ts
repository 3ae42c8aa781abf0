import { printable } from '../../lib/printable.js'

export { printable }

/** A text from elsewhere on one line, as a terminal may be given it. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s*[\r\n\u2028\u2029]\s*/g, ' '))
}
