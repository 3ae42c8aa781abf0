import { RegoNumber, typeName } from '../../values/value.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { operand } from '../shared/operands.js'
import { exactInteger } from './exact-integer.js'
import { raiseType } from './operand-checks.js'

/** The most bits of a result: OPA itself has no bound. */
const MAX_BITS = 1_000_000n
const SHIFT_STEPS_PER_BIT = 0.1

type Operation = (a: bigint, b: bigint, meter: WorkMeter) => bigint

/** Over the two's complement, as JavaScript's big integers have it as well. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  'bits.and': (a, b) => a & b,
  'bits.lsh': (a, b, meter) => {
    const bits = unsigned(b)
    if (bits > MAX_BITS) meter.exceed(`a built-in makes a number of more than ${MAX_BITS} bits`)
    meter.spend(Number(bits) * SHIFT_STEPS_PER_BIT)
    return a << bits
  },
  'bits.or': (a, b) => a | b,
  'bits.rsh': (a, b) => a >> unsigned(b),
  'bits.xor': (a, b) => a ^ b,
}

const negate: Builtin = (args, { meter }) => RegoNumber.of(~integerAt(args, 0, meter))

/** The built-ins over bits, for integers in other spellings and beyond 64 bits. */
export const bitAnswers: BuiltinTable = {
  'bits.negate': negate,
  ...Object.fromEntries(Object.entries(OPERATIONS).map(([name, operation]) => [name, overTwo(operation)])),
}

function overTwo(operation: Operation): Builtin {
  return (args, { meter }) =>
    RegoNumber.of(operation(integerAt(args, 0, meter), integerAt(args, 1, meter), meter))
}

function integerAt(args: Parameters<Builtin>[0], index: number, meter: WorkMeter): bigint {
  const value = operand(args, index)
  if (!(value instanceof RegoNumber)) raiseType(index, `must be integer but got ${typeName(value)}`)
  return (
    exactInteger(value.text, meter) ??
    raiseType(index, 'must be integer number but got floating-point number')
  )
}

function unsigned(value: bigint): bigint {
  if (value < 0n) raiseType(1, 'must be an unsigned integer number but got a negative integer')
  return value
}
