import { stripVTControlCharacters } from 'node:util'

const ESCAPE = '\u001b'

/** A line without the sequences by which programs colour what they print (ECMA-48): they would hide its level. */
export function withoutColours(line: string): string {
  // Most lines have none, and to look for one character takes next to no time.
  return line.includes(ESCAPE) ? stripVTControlCharacters(line) : line
}
