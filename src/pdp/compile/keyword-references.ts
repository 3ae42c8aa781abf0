import { codeOnly } from './code-only.js'

/** A keyword behind a dot, as OPA 1.6 and later allow in references. */
const KEYWORD_MEMBER =
  /(?<=[\w\])])\.(as|contains|default|else|every|false|if|import|in|not|null|package|some|true|with)\b/g

/** Rewrites `a.not.b` to `a["not"].b`, which every version of Rego reads, strings and comments left alone. */
export function quoteKeywordMembers(text: string): string {
  let out = ''
  let copied = 0
  for (const { index, 0: match, 1: keyword = '' } of codeOnly(text).matchAll(KEYWORD_MEMBER)) {
    out += `${text.slice(copied, index)}["${keyword}"]`
    copied = index + match.length
  }
  return out + text.slice(copied)
}
