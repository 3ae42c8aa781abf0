import { isMember, stringValue, touches } from './read-tokens.js'
import type { Token } from './read-tokens.js'

export interface Import {
  /** The imported path, `data.apps` as two names. */
  readonly path: readonly string[]
  /** The name in the module. */
  readonly name: string
}

/**
 * Returns the imports of a valid module. A line may have several imports, and an import several
 * lines.
 */
export function readImports(tokens: readonly Token[]): Import[] {
  return tokens.flatMap((token, at) => {
    const isImport = token.kind === 'name' && token.text === 'import'
    if (!isImport || token.depth > 0 || isMember(tokens, at)) return []
    const [path, end] = readPath(tokens, at + 1)
    const isRenamed = tokens[end]?.kind === 'name' && tokens[end].text === 'as'
    const name = isRenamed ? tokens[end + 1]?.text : path.at(-1)
    return name === undefined ? [] : [{ path, name }]
  })
}

/** Returns a path as strings, and the index after it. */
function readPath(tokens: readonly Token[], start: number): [path: string[], end: number] {
  const path = [tokens[start]?.text ?? '']
  let at = start + 1
  for (let sign = tokens[at]; sign !== undefined && touches(tokens, at); sign = tokens[at]) {
    const key = tokens[at + 1]
    if (key === undefined || (sign.text !== '.' && sign.text !== '[')) break
    path.push(key.kind === 'string' ? (stringValue(key) ?? '') : key.text)
    at += sign.text === '.' ? 2 : 3
  }
  return [path, at]
}
