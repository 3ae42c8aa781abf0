import { RegoNumber, typeName } from '../rego/value.js'
import type { RegoValue } from '../rego/value.js'
import { BuiltinError } from './builtin.js'
import type { BuiltinTable } from './builtin.js'
import { integerOperand, operand } from './operands.js'

type Args = readonly RegoValue[]

const MAX_NUMBERS = 1_000_000n

/** Numbers that the modules do not count themselves. */
export const numberBuiltins: BuiltinTable = {
  'numbers.range_step': rangeStep,
}

/** From the first operand to the second, up or down, both included where the step meets them. */
function rangeStep(args: Args): RegoValue {
  const from = anyIntegerOperand(args, 0)
  const to = anyIntegerOperand(args, 1)
  const step = anyIntegerOperand(args, 2)
  if (step <= 0n) throw new BuiltinError('numbers.range_step: step must be a positive number above zero')
  const distance = to > from ? to - from : from - to
  const count = distance / step + 1n
  if (count > MAX_NUMBERS) throw new BuiltinError(`result exceeds the limit of ${MAX_NUMBERS} numbers`)
  const signedStep = to > from ? step : -step
  return Array.from({ length: Number(count) }, (_, i) => RegoNumber.of(from + BigInt(i) * signedStep))
}

/** OPA's big integers have a type error of their own. */
function anyIntegerOperand(args: Args, index: number): bigint {
  const value = operand(args, index)
  if (value instanceof RegoNumber) return integerOperand(args, index)
  throw new BuiltinError(`operand ${index + 1} must be integer but got ${typeName(value)}`, 'eval_type_error')
}
