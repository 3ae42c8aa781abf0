import { readTokens } from './tokens/read-tokens.js'
import type { Token } from './tokens/read-tokens.js'
import type { RegoModule } from './rego-module.js'

const PRINT = 'print'
const OPERAND = 'tidegate_printed'

/**
 * The modules with `print(a, b)` in the words that OPA compiles it to itself, `internal.print` of a set for each operand: OPA before 1.0 leaves the former out
 * of WebAssembly, not the latter. Rows stay as they are, columns behind a call do not. Undefined where nothing prints, or a rule has that name.
 */
export function keepPrintCalls(modules: readonly RegoModule[]): readonly RegoModule[] | undefined {
  if (modules.some(({ rules }) => rules.some(({ path }) => path[0] === PRINT))) return undefined
  const kept = modules.map((module) => ({ ...module, text: keepIn(module.text) }))
  return kept.some(({ text }, place) => text !== modules[place]?.text) ? kept : undefined
}

function keepIn(source: string): string {
  if (!source.includes(PRINT)) return source
  const { text, tokens } = readTokens(source)
  let out = ''
  let copied = 0
  for (const [at, token] of tokens.entries()) {
    const end = isCall(tokens, at) ? closingOf(tokens, at + 1) : undefined
    const open = tokens[at + 1]
    if (end === undefined || open === undefined || token.offset < copied) continue
    const operands = operandsOf(text, tokens.slice(at + 1, end + 1))
    const sets = operands.filter(isCode).map((operand) => `{${OPERAND} | ${OPERAND} = ${operand}}`)
    // Nothing between the brackets, or behind the last comma, but lines.
    const lines = operands
      .filter((operand) => !isCode(operand))
      .join('')
      .replace(/[^\n]/g, '')
    out += `${text.slice(copied, token.offset)}internal.print([${sets.join(', ')}${lines}])`
    copied = (tokens[end]?.offset ?? 0) + 1
  }
  return copied === 0 ? source : out + text.slice(copied)
}

function isCall(tokens: readonly Token[], at: number): boolean {
  const [before, token, open] = [tokens[at - 1], tokens[at], tokens[at + 1]]
  return token?.kind === 'name' && token.text === PRINT && open?.text === '(' && before?.text !== '.'
}

function isCode(text: string): boolean {
  return readTokens(text).tokens.length > 0
}

/** The place of the bracket that closes the one at `open`. */
function closingOf(tokens: readonly Token[], open: number): number | undefined {
  const depth = tokens[open]?.depth ?? 0
  for (let place = open + 1; place < tokens.length; place++) {
    const token = tokens[place]
    if (token?.text === ')' && token.depth === depth) return place
  }
  return undefined
}

/** What stands between the commas of a call; `tokens` are those from its opening bracket to its closing one. */
function operandsOf(text: string, tokens: readonly Token[]): string[] {
  const inside = (tokens[0]?.depth ?? 0) + 1
  const commas = tokens.filter(({ text: sign, depth }) => sign === ',' && depth === inside)
  const ends = [tokens[0], ...commas, tokens.at(-1)].map((token) => token?.offset ?? 0)
  return ends.slice(1).map((end, place) => text.slice((ends[place] ?? 0) + 1, end))
}
