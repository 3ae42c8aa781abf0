import { cutText } from './shown-text.js'

/** Whoever sent the document chose its names. */
const MAX_NAME = 100

/** `auth.tokens[0].sha256`: a path into a document as people write it; very long names are cut. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`
    const name = cutText(String(segment), MAX_NAME)
    return text === '' ? name : `${text}.${name}`
  }, '')
}
