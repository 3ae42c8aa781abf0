import { randomBytes } from 'node:crypto'
import { RegoNumber } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import type { BuiltinContext, BuiltinTable } from './shared/builtin.js'
import { memoise } from './shared/memoise.js'
import { int64Operand, stringOperand } from './shared/operands.js'

/** Random numbers, the same for the same arguments within a decision. */
export const randomBuiltins: BuiltinTable = {
  'rand.intn': randomInteger,
}

/** From 0 up to |n| exclusive; 0 when n is. */
function randomInteger(args: readonly RegoValue[], context: BuiltinContext): RegoValue {
  stringOperand(args, 0)
  const n = int64Operand(args, 1)
  if (n === 0n) return RegoNumber.of(0)
  return memoise('rand.intn', args, context, () => RegoNumber.of(randomBelow(n < 0n ? -n : n)))
}

/** With 64 bits more than any bound has, the remainder's bias is below notice. */
function randomBelow(bound: bigint): bigint {
  return BigInt(`0x${randomBytes(16).toString('hex')}`) % bound
}
