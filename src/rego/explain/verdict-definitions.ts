import { escapeRegExp } from '../../lib/text/escape-pattern.js'
import { headPath } from '../modules/outline-module.js'
import type { RegoFile } from '../modules/rego-module.js'
import { positionIn, readTokens, startsStatement, stringValue } from '../modules/tokens/read-tokens.js'
import type { Token } from '../modules/tokens/read-tokens.js'
import { packagePath } from '../values/package-line.js'
import { printPackageName } from '../values/print-data-ref.js'
import { verdictOf } from '../values/verdict-rules.js'

/** A definition of a verdict rule, and the texts that it may give. */
export interface VerdictDefinition {
  /** The package with the document below it, as in the denials of a decision. */
  readonly package: string
  readonly rule: string
  readonly file: string
  readonly row: number
  readonly texts: readonly RegExp[]
}

/** Shorter strings are separators and keys. */
const MIN_TEXT_LENGTH = 4
const VERB = /%(?:%|[-+# 0]*\d*(?:\.\d+)?[a-zA-Z])/

/** Returns the definitions of verdict rules in files, without a compiler. */
export function verdictDefinitions(files: readonly RegoFile[]): readonly VerdictDefinition[] {
  return files.flatMap((file) => {
    const path = packagePath(file.text)
    return path === undefined ? [] : definitionsIn(file, path)
  })
}

function definitionsIn({ file, text: source }: RegoFile, path: readonly string[]): VerdictDefinition[] {
  const { text, tokens } = readTokens(source)
  const starts = [...tokens.keys()].filter((at) => startsStatement(tokens, at))
  return starts.flatMap((at, place) => {
    const head = headPath(tokens, at)
    const verdict = verdictOf(head.path)
    if (verdict === undefined) return []
    const own = tokens.slice(at, starts[place + 1])
    return [
      {
        package: printPackageName([...path, ...verdict.document]),
        rule: verdict.rule,
        file,
        row: positionIn(text, tokens[at]?.offset ?? 0).row,
        texts: own.flatMap(textPattern),
      },
    ]
  })
}

/** A string as a pattern, in which the verbs of `sprintf` are any text. */
function textPattern(token: Token): RegExp[] {
  const value = token.kind === 'string' ? stringValue(token)?.trim() : undefined
  if (value === undefined || value.length < MIN_TEXT_LENGTH) return []
  const parts = value.split(VERB).map(escapeRegExp)
  return [new RegExp(`^${parts.join('.*')}$`, 's')]
}

/**
 * Returns the definitions that may have given a reason of a package: those with its text, or all of
 * the package if none has it, because the text is made elsewhere.
 */
export function definitionsOfReason(
  definitions: readonly VerdictDefinition[],
  packageName: string,
  reason: string,
): readonly VerdictDefinition[] {
  const all = definitions.filter((definition) => definition.package === packageName)
  const [document = '', rule = ''] =
    /^(.*)\.(\w+) (?:is not true|is true|gives no reason)$/.exec(reason)?.slice(1) ?? []
  const named = all.filter((one) => document === packageName && one.rule === rule)
  if (named.length > 0) return named
  const exact = all.filter(({ texts }) => texts.some((text) => text.test(reason)))
  return exact.length > 0 ? exact : all
}
