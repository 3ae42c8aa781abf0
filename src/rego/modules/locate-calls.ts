import type { ErrorDetail } from '../../errors/app-error.js'
import type { RegoFile } from './rego-module.js'
import { codeOnly } from './tokens/not-code.js'

type Location = NonNullable<ErrorDetail['location']>

/** Returns the locations of calls of a built-in, with line and column from 1. */
export function locateCalls(files: readonly RegoFile[], name: string): Location[] {
  const call = new RegExp(`(?<![\\w.])${name.replaceAll('.', '\\.')}\\s*\\(`, 'g')
  return files.flatMap(({ file, text }) => {
    const code = codeOnly(text)
    return [...code.matchAll(call)].map(({ index }) => ({ file, ...position(code, index) }))
  })
}

function position(text: string, offset: number): { row: number; col: number } {
  const before = text.slice(0, offset).split('\n')
  return { row: before.length, col: (before.at(-1)?.length ?? 0) + 1 }
}

/** A keyword after a dot, which OPA 1.6 and later allow in references. */
const KEYWORD_MEMBER =
  /(?<=[\w\])])\.(as|contains|default|else|every|false|if|import|in|not|null|package|some|true|with)\b/g

/**
 * Rewrites `a.not.b` as `a["not"].b`, which every Rego version parses, except in strings and
 * comments.
 */
export function quoteKeywordMembers(text: string): string {
  let out = ''
  let copied = 0
  for (const { index, 0: match, 1: keyword = '' } of codeOnly(text).matchAll(KEYWORD_MEMBER)) {
    out += `${text.slice(copied, index)}["${keyword}"]`
    copied = index + match.length
  }
  return out + text.slice(copied)
}
