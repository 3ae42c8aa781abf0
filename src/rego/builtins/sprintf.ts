import { lengthOf } from './shared/call-costs.js'
import { RegoNumber } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import type { Builtin, BuiltinTable } from './shared/builtin.js'
import { displayText } from './go-format/display-text.js'
import { goInteger } from '../values/go-integer.js'
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

/** Like OPA, by the number's text: `1.0` is an integer, `1.5` a float, and `1e3` and what no double holds stay text. */
function toGoNumber({ text }: RegoNumber): GoArgument {
  const integer = goInteger(text)
  if (integer !== undefined) return { type: 'int64', value: integer }
  if (/^-?\d+$/.test(text)) return { type: '*big.Int', value: BigInt(text) }
  const value = Number(text)
  return text.includes('.') && Number.isFinite(value)
    ? { type: 'float64', value }
    : { type: 'string', value: text }
}

export const sprintfBuiltins: BuiltinTable = { sprintf }
