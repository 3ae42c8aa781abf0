/** Quotes a text as the errors of Go's time package do: bytes outside printable ASCII in hexadecimal. */
export function quoteTimeText(text: string): string {
  const escaped = text.replace(/["\\]|[^\u0020-\u007f]+/g, (found) =>
    found === '"' || found === '\\' ? `\\${found}` : hexOf(found),
  )
  return `"${escaped}"`
}

function hexOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('hex').replace(/../g, '\\x$&')
}
