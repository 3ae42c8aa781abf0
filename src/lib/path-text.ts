/** `auth.tokens[0].sha256`: a path into a document as people write it. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`
    return text === '' ? String(segment) : `${text}.${String(segment)}`
  }, '')
}
