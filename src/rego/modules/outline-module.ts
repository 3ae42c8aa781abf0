import type { RegoFile, RegoModule, RegoRule } from './rego-module.js'
import { packagePath } from '../values/package-line.js'
import { pathKey } from '../values/path-key.js'
import { readTokens, startsStatement, stringValue } from './tokens/read-tokens.js'
import type { Token } from './tokens/read-tokens.js'

const NO_RULES: readonly string[] = ['package', 'import', 'default', 'else']

/**
 * Returns a module's package and rule names, read from its text without OPA's parser, because
 * bundles load without `opa`. Undefined if the text has no package.
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
    const { path, end } = headPath(tokens, at)
    const isFunction = tokens[end]?.text === '('
    // A rule with a default, or with one definition without parameters, is not a function.
    const key = pathKey(path)
    const known = rules.get(key)
    if (known?.isFunction === false) continue
    rules.set(key, { path, isDynamic: false, isFunction, excludesData: false })
  }
  return { file, text: source, version: 1, packagePath: path, rules: [...rules.values()] }
}

/**
 * Returns the constant path of the rule head at a token, and the index after it: `prod.deny`,
 * `prod["a b"].deny`.
 */
export function headPath(tokens: readonly Token[], at: number): { path: string[]; end: number } {
  const path = [tokens[at]?.text ?? '']
  let end = at + 1
  for (;;) {
    const [sign, name, closing] = tokens.slice(end, end + 3)
    if (sign?.text === '.' && name?.kind === 'name') {
      path.push(name.text)
      end += 2
    } else if (sign?.text === '[' && name?.kind === 'string' && closing?.text === ']') {
      path.push(stringValue(name) ?? '')
      end += 3
    } else return { path, end }
  }
}
