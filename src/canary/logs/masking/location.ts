import { MEDIA_TYPE_NAME } from './value-word.js'

const COLON = 0x3a
const SLASH = 0x2f
const BACKSLASH = 0x5c
const SEMICOLON = 0x3b
/** What a URL or path stops at; commas and colons within are parts of it. */
const ENDS = ' \t\r\n"\'<>)]}'
const TRAILING = '.,;:!?'

/** What a body is: its type with parameters (RFC 9110 section 8.3.1). */
const MEDIA_TYPE = new RegExp(`${MEDIA_TYPE_NAME}(?:;[ +]?[\\w-]+=[\\w.-]*\\w)+`, 'y')

/**
 * The end of a URL, of a media type, of a path with a query, or of a Windows path that begins at `start`, where the first word ends at
 * `end`; `end` when there is none.
 */
export function locationEnd(text: string, start: number, end: number): number {
  if (text.charCodeAt(end) === SEMICOLON) return Math.max(end, start + mediaType(text, start).length)
  if (!isQuery(text, start, end) && !isUrlOrDrive(text, start, end)) return end
  const isDrive = text.charCodeAt(end + 1) === BACKSLASH
  let at = end
  while (at < text.length && !ENDS.includes(text.charAt(at))) {
    at += 1
    if (isDrive && text.charAt(at) === ' ') at += restOfFolder(text, at)
  }
  while (at > end && TRAILING.includes(text.charAt(at - 1))) at -= 1
  return at
}

/** Names of folders have blanks: `C:\Program Files\Shop`. */
const REST_OF_FOLDER = / [\w.()-]{1,40}(?: [\w.()-]{1,40}){0,2}(?=\\\w)/y

function restOfFolder(text: string, at: number): number {
  REST_OF_FOLDER.lastIndex = at
  return REST_OF_FOLDER.exec(text)?.[0].length ?? 0
}

function mediaType(text: string, start: number): string {
  MEDIA_TYPE.lastIndex = start
  return MEDIA_TYPE.exec(text)?.[0] ?? ''
}

function isQuery(text: string, start: number, end: number): boolean {
  return text.charCodeAt(start) === SLASH && text.charAt(end) === '=' && text.slice(start, end).includes('?')
}

function isUrlOrDrive(text: string, start: number, end: number): boolean {
  if (text.charCodeAt(end) !== COLON) return false
  const next = text.charCodeAt(end + 1)
  if (next === SLASH && text.charCodeAt(end + 2) === SLASH) return true
  return end === start + 1 && (next === BACKSLASH || next === SLASH)
}
