import { lengthOf } from './shared/call-costs.js'
import { RegoNumber } from '../rego/value.js'
import type { RegoValue } from '../rego/value.js'
import type { Builtin, BuiltinTable } from './shared/builtin.js'
import { displayText } from './go-format/display-text.js'
import { formatGo } from './go-format/printf.js'
import type { GoArgument } from './go-format/verbs.js'
import { arrayOperand, stringOperand } from './shared/operands.js'

/** Steps for each character that is quoted. */
const QUOTING_STEPS = 20

const sprintf: Builtin = (args, { meter }) => {
  const format = stringOperand(args, 0)
  const values = arrayOperand(args, 1)
  for (const value of values) meter.spend(displaySteps(value))
  return formatGo(format, values.map(toGoArgument), meter)
}

/** Texts within collections are quoted, character by character. */
function displaySteps(value: RegoValue): number {
  return value instanceof RegoNumber || typeof value === 'string' ? 0 : lengthOf(value) * QUOTING_STEPS
}

/** OPA hands numbers and strings to Go's formatter as they are, and everything else as its Rego text. */
function toGoArgument(value: RegoValue): GoArgument {
  if (value instanceof RegoNumber) return toGoNumber(value)
  return { type: 'string', value: typeof value === 'string' ? value : displayText(value) }
}

const INT64_LIMIT = 2n ** 63n

/** Like OPA, by the number's text: `1.0` and `1e3` are floats, and what no double holds stays text. */
function toGoNumber(number: RegoNumber): GoArgument {
  const { text } = number
  if (/^-?\d+$/.test(text)) {
    const value = BigInt(text)
    return { type: value >= -INT64_LIMIT && value < INT64_LIMIT ? 'int' : '*big.Int', value }
  }
  const value = Number(text)
  return Number.isFinite(value) ? { type: 'float64', value } : { type: 'string', value: text }
}

export const sprintfBuiltins: BuiltinTable = { sprintf }
