import { cutText } from './shown-text.js'

/** Maximum length of a name, which the sender of the document chose. */
const MAX_NAME = 100

/** Formats a path into a document: `auth.tokens[0].sha256`. Long names are truncated. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`
    const name = cutText(String(segment), MAX_NAME)
    return text === '' ? name : `${text}.${name}`
  }, '')
}
