import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { addressesOf, cidrOf, containsRange } from '../net/network.js'
import { stringOperand } from '../shared/operands.js'

const contains: Builtin = (args) => {
  const network = cidrOf(stringOperand(args, 0))
  const { family, first, last } = addressesOf(stringOperand(args, 1))
  return containsRange(network, family, first, last)
}

/** Networks overlap where one holds the first address of the other. */
const intersects: Builtin = (args) => {
  const a = cidrOf(stringOperand(args, 0))
  const b = cidrOf(stringOperand(args, 1))
  return containsRange(a, b.family, b.first, b.first) || containsRange(b, a.family, a.first, a.first)
}

export const networkAnswers: BuiltinTable = {
  'net.cidr_contains': contains,
  'net.cidr_intersects': intersects,
}
