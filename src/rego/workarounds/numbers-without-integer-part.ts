import { applyEdits } from '../modules/rewrite-modules.js'
import { codeOnly } from '../modules/tokens/not-code.js'
import { findTemplateStrings } from '../modules/tokens/template-strings.js'

const POINT_FIRST = /(?<![\w\])}"`.])\.\d/
/** Matches the point of such a number with the space before it. */
const POINT = /(?<=[=*+\-/<>(,[{:|&%]) \.(?=\d)|(?<![\w\])}"`.])\.(?=\d)/g

/**
 * Rewrites numbers such as `.5` as `0.5`.
 *
 * Fault: OPA parses `.5` and keeps this text, which is not JSON. `opa eval` cannot print a document
 * with it (`invalid number literal ".5"`), and compiled modules return it.
 * Versions: 0.70 and 1.x up to 1.20.2.
 *
 * The zero replaces a space before the point if there is one. Otherwise later columns of the line
 * are off by one until `withSourceColumns` corrects them.
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
  const points = [...codeOnly(code).matchAll(POINT)]
  return applyEdits(
    code,
    points.map(({ index, 0: point }) => ({ at: index, length: point.length, text: '0.' })),
  )
}
