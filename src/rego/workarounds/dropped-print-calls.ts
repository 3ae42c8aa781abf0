import type { RegoModule } from '../modules/rego-module.js'
import { applyEdits, rewriteModules } from '../modules/rewrite-modules.js'
import type { Edit } from '../modules/rewrite-modules.js'
import { argumentsOf, closingOf } from '../modules/tokens/expressions.js'
import { isMember, readTokens } from '../modules/tokens/read-tokens.js'

const PRINT = 'print'
const OPERAND = 'tidegate_printed'

/**
 * Rewrites `print(a, b)` as `internal.print([{x | x = a}, {x | x = b}])`, the form that OPA itself
 * compiles it to.
 *
 * Fault: `opa build` leaves `print` out of WebAssembly and has no flag to keep it.
 * Versions: 0.70. Later releases have `--wasm-include-print`.
 *
 * Lines stay, columns after a call do not. Returns the given array if no module prints, or if a
 * rule is named `print`.
 */
export async function keepPrintCalls(modules: readonly RegoModule[]): Promise<readonly RegoModule[]> {
  if (modules.some(({ rules }) => rules.some(({ path }) => path[0] === PRINT))) return modules
  return await rewriteModules(modules, ({ text }) => keepIn(text))
}

function keepIn(source: string): string {
  if (!source.includes(PRINT)) return source
  const { text, tokens } = readTokens(source)
  const edits: Edit[] = []
  for (const [at, { kind, text: word, offset }] of tokens.entries()) {
    if (kind !== 'name' || word !== PRINT || isMember(tokens, at) || tokens[at + 1]?.text !== '(') continue
    const [open, close] = [tokens[at + 1], tokens[closingOf(tokens, at + 1)]]
    if (open === undefined || close === undefined) continue
    edits.push({ at: offset, length: open.offset + 1 - offset, text: 'internal.print([' })
    for (const [from, to] of argumentsOf(tokens, at + 1, tokens.indexOf(close) + 1)) {
      const [first, last] = [tokens[from], tokens[to - 1]]
      if (first === undefined || last === undefined) continue
      edits.push({ at: first.offset, length: 0, text: `{${OPERAND} | ${OPERAND} = ` })
      edits.push({ at: last.offset + last.text.length, length: 0, text: '}' })
    }
    edits.push({ at: close.offset, length: 0, text: ']' })
  }
  return edits.length === 0 ? source : applyEdits(text, edits)
}
