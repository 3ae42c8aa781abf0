const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * What a header says that was read byte by byte (as ISO-8859-1, which HTTP leaves a sender): most senders mean UTF-8, so it
 * is that wherever its bytes are.
 */
export function readHeaderText(value: string): string {
  if (/^[\x20-\x7e]*$/.test(value)) return value
  try {
    return UTF8.decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}

/** A text as `fetch` takes it for a header: the bytes of its UTF-8, each as one character. */
export function writeHeaderText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}
