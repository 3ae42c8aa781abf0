const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Decodes a header that was read as ISO-8859-1. Most senders use UTF-8, so it is decoded as UTF-8
 * if valid.
 */
export function readHeaderText(value: string): string {
  if (/^[\x20-\x7e]*$/.test(value)) return value
  try {
    return UTF8.decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}

/** Encodes a text for a header of `fetch`: each byte of its UTF-8 as one character. */
export function writeHeaderText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}
