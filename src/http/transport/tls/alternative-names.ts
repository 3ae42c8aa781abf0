/** `DNS:a.example.org`, `URI:"a, b"`: what would be misread stands in quotes, as a JSON text (Node.js, X509Certificate, subjectAltName). */
const NAME = /(?<type>[A-Za-z][A-Za-z ]*):(?:(?<quoted>"(?:[^"\\]|\\.)*")|(?<plain>[^,"]*))(?:, |$)/y

/** The alternative names of a certificate, as node writes them in one text; none where any of them cannot be read. */
export function alternativeNames(text: string): string[] {
  const names: string[] = []
  NAME.lastIndex = 0
  while (NAME.lastIndex < text.length) {
    const { type, quoted, plain } = NAME.exec(text)?.groups ?? {}
    const value = quoted === undefined ? plain : parseQuoted(quoted)
    if (type === undefined || value === undefined) return []
    names.push(`${type === 'IP Address' ? 'IP' : type}:${value}`)
  }
  return names
}

function parseQuoted(text: string): string | undefined {
  try {
    return String(JSON.parse(text))
  } catch {
    return undefined
  }
}
