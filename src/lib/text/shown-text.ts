import { stripVTControlCharacters } from 'node:util'

/**
 * Control characters except line feed and tab, and bidirectional formatting characters (Unicode UAX
 * 9, 2.1 to 2.3), which would act on a terminal or page. Comments, log lines and evidence come from
 * other people.
 */
const ACTS_ON_READER = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Makes foreign text safe for a terminal or page. */
export function printable(text: string): string {
  return text.replace(ACTS_ON_READER, '\ufffd')
}

/**
 * Replaces such characters by escapes such as `\\u009b`, for JSON and log lines shown in a
 * terminal. JSON strings keep their value.
 */
export function escapeControls(text: string): string {
  return text.replace(
    ACTS_ON_READER,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const ESCAPE = '\u001b'

/**
 * Removes colour sequences (ECMA-48), a byte order mark, and the zeros of UTF-16 read as UTF-8, all
 * of which would hide the level of a log line.
 */
export function withoutColours(line: string): string {
  // Most lines contain none, and this check is cheap.
  const text = line.includes('\0') ? line.replaceAll('\0', '') : line
  const from = text.startsWith('\ufeff') ? 1 : text.startsWith('\ufffd\ufffd') ? 2 : 0
  const plain = from === 0 ? text : text.slice(from)
  return plain.includes(ESCAPE) ? stripVTControlCharacters(plain) : plain
}

/**
 * Truncates a text to `length` UTF-16 units plus an ellipsis, for messages that quote foreign text.
 */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`
}
