import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { containsRange, parseCidr, parseIpAddress } from '../net/network.js'
import type { Network } from '../net/network.js'
import { stringOperand } from '../shared/operands.js'

const contains: Builtin = (args) => {
  const network = readCidr(stringOperand(args, 0))
  const text = stringOperand(args, 1)
  const address = parseIpAddress(text)
  if (address !== undefined) return containsRange(network, address.family, address.value, address.value)
  const inner = parseCidr(text)
  if (inner === undefined)
    throw new BuiltinError(`not a valid textual representation of an IP address or CIDR: ${text}`)
  return containsRange(network, inner.family, inner.first, inner.last)
}

/** Networks overlap where one holds the first address of the other. */
const intersects: Builtin = (args) => {
  const a = readCidr(stringOperand(args, 0))
  const b = readCidr(stringOperand(args, 1))
  return containsRange(a, b.family, b.first, b.first) || containsRange(b, a.family, a.first, a.first)
}

export const networkAnswers: BuiltinTable = {
  'net.cidr_contains': contains,
  'net.cidr_intersects': intersects,
}

function readCidr(text: string): Network {
  const network = parseCidr(text)
  if (network === undefined) throw new BuiltinError(`invalid CIDR address: ${text}`)
  return network
}
