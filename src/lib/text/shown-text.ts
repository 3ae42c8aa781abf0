import { stripVTControlCharacters } from 'node:util'

/**
 * What would act on a terminal or a page instead of being shown: control characters but for line feed and tab, and the marks
 * that turn the direction of writing (Unicode UAX 9, 2.1 to 2.3). Comments, log lines and evidence come from others.
 */
const ACTS_ON_READER = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** A text from elsewhere as a terminal or a page may be given it. */
export function printable(text: string): string {
  return text.replace(ACTS_ON_READER, '\ufffd')
}

/**
 * The same text with `\\u009b` in place of such a character, as JSON and log lines may be given to a terminal: a string of JSON keeps
 * its value.
 */
export function escapeControls(text: string): string {
  return text.replace(
    ACTS_ON_READER,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const ESCAPE = '\u001b'

/**
 * A line without what would hide its level: the sequences by which programs colour what they print (ECMA-48), a byte order mark, and the
 * zeros of UTF-16 that was read as UTF-8.
 */
export function withoutColours(line: string): string {
  // Most lines have none, and to look for one character takes next to no time.
  const text = line.includes('\0') ? line.replaceAll('\0', '') : line
  const from = text.startsWith('\ufeff') ? 1 : text.startsWith('\ufffd\ufffd') ? 2 : 0
  const plain = from === 0 ? text : text.slice(from)
  return plain.includes(ESCAPE) ? stripVTControlCharacters(plain) : plain
}

/** A text of at most `length` UTF-16 units and a mark of what is left out, for messages about what others sent. */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`
}
