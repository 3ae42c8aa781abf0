import type { RegoFile } from '../compile/collect-sources.js'
import type { RegoModule, RegoRule } from '../compile/rego-module.js'
import { packagePath } from '../rego/package-line.js'
import { readTokens, startsStatement } from './read-tokens.js'

const NO_RULES: readonly string[] = ['package', 'import', 'default', 'else']

/**
 * A module as far as its text tells it without OPA's parser, which a bundle must load without: its package, and the names
 * that its rules begin with. Undefined where the text names no package.
 */
export function outlineModule({ file, text: source }: RegoFile): RegoModule | undefined {
  const path = packagePath(source)
  if (path === undefined) return undefined
  const { tokens } = readTokens(source)
  const rules = new Map<string, RegoRule>()
  for (const [at, token] of tokens.entries()) {
    const isDefault = token.depth === 0 && tokens[at - 1]?.text === 'default'
    if (token.kind !== 'name' || NO_RULES.includes(token.text)) continue
    if (!isDefault && !startsStatement(tokens, at)) continue
    const isFunction = tokens[at + 1]?.text === '('
    // A name with a default, or with one definition that takes nothing, is asked for by its path.
    const known = rules.get(token.text)
    if (known?.isFunction === false) continue
    rules.set(token.text, { path: [token.text], isDynamic: false, isFunction, excludesData: false })
  }
  return { file, text: source, version: 1, packagePath: path, rules: [...rules.values()] }
}
