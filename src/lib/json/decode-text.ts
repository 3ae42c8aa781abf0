import { isUtf8, transcode } from 'node:buffer'

/** The same bytes when they are UTF-8; otherwise they are read as ISO-8859-1, which some clients send, and encoded anew. */
export function toUtf8(bytes: Uint8Array): Uint8Array {
  return isUtf8(bytes) ? bytes : transcode(bytes, 'latin1', 'utf8')
}
