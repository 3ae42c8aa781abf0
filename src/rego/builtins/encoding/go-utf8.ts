import { isUtf8 } from 'node:buffer'

/** Decodes UTF-8 as Go does: each invalid byte becomes one U+FFFD. */
export function decodeUtf8(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : decodeBroken(bytes)
}

/** Node replaces a truncated sequence with one U+FFFD; Go replaces each of its bytes. */
function decodeBroken(bytes: Buffer): string {
  let text = ''
  let at = 0
  while (at < bytes.length) {
    const sequence = bytes.subarray(at, at + sequenceLength(bytes.readUInt8(at)))
    const isCharacter = isUtf8(sequence)
    text += isCharacter ? sequence.toString('utf8') : '\ufffd'
    at += isCharacter ? sequence.length : 1
  }
  return text
}

function sequenceLength(lead: number): number {
  if (lead < 0xc0) return 1
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}
