import { findTemplateStrings } from '../modules/tokens/template-strings.js'

const POINT_FIRST = /(?<![\w\])}"`.])\.\d/
/** Comments and strings, then a number without digits before its point; the space after a sign is replaced, so that columns stay. */
const TOKEN = /#[^\n]*|"(?:[^"\\\n]|\\.)*"|`[^`]*`|(?<=[=*+\-/<>(,[{:|&%]) \.(?=\d)|(?<![\w\])}"`.])\.(?=\d)/g

/**
 * Writes numbers such as `.5` as `0.5`, which is the same number to OPA's evaluator. Its compilers refuse the first as JSON, or compile
 * it to a text that is none. Columns after it change only where no space precedes it.
 */
export function spellNumbers(text: string): string {
  if (!POINT_FIRST.test(text)) return text
  let out = ''
  let copied = 0
  for (const { start, end, expressions } of findTemplateStrings(text)) {
    out += spellInCode(text.slice(copied, start))
    copied = start
    for (const [from, to] of expressions) {
      out += text.slice(copied, from) + spellNumbers(text.slice(from, to))
      copied = to
    }
    out += text.slice(copied, end)
    copied = end
  }
  return out + spellInCode(text.slice(copied))
}

function spellInCode(code: string): string {
  return code.replaceAll(TOKEN, (token) => (token.trimStart() === '.' ? '0.' : token))
}
