const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Bytes as the text that OPA's answer shows: each byte that is no part of UTF-8 becomes one U+FFFD. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    return decodeBroken(bytes)
  }
}

/** TextDecoder makes one U+FFFD of a sequence cut short, where Go makes one of each byte of it. */
function decodeBroken(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes[at] ?? 0)
    const character = decodeCharacter(bytes.subarray(at, at + length))
    text += character ?? '\ufffd'
    at += character === undefined ? 1 : length
  }
  return text
}

function decodeCharacter(sequence: Uint8Array): string | undefined {
  try {
    return strict.decode(sequence)
  } catch {
    return undefined
  }
}

function sequenceLength(lead: number): number {
  if (lead < 0xc0) return 1
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}
