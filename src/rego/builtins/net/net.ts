import { RegoNumber, RegoObject, RegoSet } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinContext, BuiltinTable } from '../shared/builtin.js'
import { isArray, operand, stringOperand } from '../shared/operands.js'
import {
  addressesOf,
  cidrOf,
  containsRange,
  formatAddress,
  formatNetwork,
  makeNetwork,
  parseCidr,
  parseIpAddress,
  rangeToNetworks,
} from './network.js'
import type { IpFamily, Network } from './network.js'

type Args = readonly RegoValue[]

/** CIDR built-ins for IPv4 and IPv6. */
export const netBuiltins: BuiltinTable = {
  'net.cidr_contains_matches': cidrContainsMatches,
  'net.cidr_expand': cidrExpand,
  'net.cidr_is_valid': cidrIsValid,
  'net.cidr_merge': cidrMerge,
}

/** Steps and bytes per address of a result; steps of parsing, comparing and matching. */
const ADDRESS_STEPS = 250
const ADDRESS_BYTES = 150
const NETWORK_STEPS = 300
const PAIR_STEPS = 65
const MATCH_STEPS = 750
const MATCH_BYTES = 300

function cidrIsValid(args: Args): RegoValue {
  const text = operand(args, 0)
  return typeof text === 'string' && parseCidr(text) !== undefined
}

function cidrExpand(args: Args, { meter }: BuiltinContext): RegoValue {
  const network = cidrOf(stringOperand(args, 0))
  const count = Number(network.last - network.first) + 1
  meter.reserve(count * ADDRESS_BYTES)
  meter.spend(count * ADDRESS_STEPS)
  const addresses: string[] = []
  for (let at = network.first; at <= network.last; at++) addresses.push(formatAddress(network.family, at))
  return new RegoSet(addresses)
}

function cidrMerge(args: Args): RegoValue {
  const list = operand(args, 0)
  if (!isArray(list) && !(list instanceof RegoSet)) throw new BuiltinError('operand must be an array')
  const networks = (isArray(list) ? list : list.members).map(networkToMerge)
  return new RegoSet(mergeNetworks(networks).map(formatNetwork))
}

/** A bare IPv4 address denotes its classful network; a bare IPv6 address is an error. */
function networkToMerge(element: RegoValue): Network {
  if (typeof element !== 'string') throw new BuiltinError('element must be string')
  const bare = parseIpAddress(element)
  if (bare === undefined) return cidrOf(element)
  if (bare.family === 6) throw new BuiltinError('IPv6 invalid: needs prefix length')
  return makeNetwork(4, bare.value, classfulPrefix(bare.value), 'as is')
}

function classfulPrefix(ipv4: bigint): number {
  if (ipv4 < 0x8000_0000n) return 8
  return ipv4 < 0xc000_0000n ? 16 : 24
}

function cidrContainsMatches(args: Args, { meter }: BuiltinContext): RegoValue {
  const outer = candidates(operand(args, 0), 1)
  // OPA ignores the second operand if the first is empty.
  const inner = outer.length === 0 ? [] : candidates(operand(args, 1), 2)
  meter.spend((outer.length + inner.length) * NETWORK_STEPS + outer.length * inner.length * PAIR_STEPS)
  if (inner.length === 0) return new RegoSet([])

  const matches: RegoValue[] = []
  const containers = outer.map(({ term, index }) => ({ network: cidrOf(textOf(term)), index }))
  const contained = inner.map(({ term, index }) => ({ ...addressesOf(textOf(term)), index }))
  for (const { network, index } of containers) {
    for (const { family, first, last, index: innerIndex } of contained) {
      if (!containsRange(network, family, first, last)) continue
      meter.spend(MATCH_STEPS)
      meter.reserve(MATCH_BYTES)
      matches.push([index, innerIndex])
    }
  }
  return new RegoSet(matches)
}

interface Candidate {
  /** The text of a network or address, to be validated. */
  readonly term: RegoValue
  /** Its position, key, or the member itself, as shown in the result. */
  readonly index: RegoValue
}

function candidates(value: RegoValue, position: number): Candidate[] {
  if (typeof value === 'string') return [{ term: value, index: value }]
  if (isArray(value)) {
    return value.map((item, i) => ({ term: matchTerm(item, position), index: RegoNumber.of(i) }))
  }
  if (value instanceof RegoSet) {
    return value.members.map((item) => ({ term: matchTerm(item, position), index: item }))
  }
  if (value instanceof RegoObject) {
    return value.entries.map(([key, item]) => ({ term: matchTerm(item, position), index: key }))
  }
  return []
}

/** An element is a text or a tuple that begins with one. */
function matchTerm(item: RegoValue, position: number): RegoValue {
  const term = isArray(item) ? item[0] : item
  if (term === undefined || (typeof item !== 'string' && !isArray(item))) {
    throw new BuiltinError(`operand ${position}: element must be string or non-empty array`)
  }
  return term
}

function textOf(term: RegoValue): string {
  return stringOperand([term], 0)
}

/** A range of addresses. `network` is set while it is still a single network of the input. */
interface AddressRange {
  readonly family: IpFamily
  readonly first: bigint
  readonly last: bigint
  readonly network: Network | undefined
}

const MAPPED_IPV4_FIRST = 0xffffn << 32n
const MAPPED_IPV4_LAST = MAPPED_IPV4_FIRST | 0xffff_ffffn

/**
 * Returns the fewest networks that cover the same addresses. A network without neighbours keeps its
 * notation. As in OPA, an IPv6 network that contains the IPv4-mapped space (`::/0`) absorbs the
 * IPv4 networks.
 */
function mergeNetworks(networks: readonly Network[]): Network[] {
  const ipv6 = networks.filter((network) => network.family === 6)
  const ipv4 = ipv6.some((network) => containsRange(network, 6, MAPPED_IPV4_FIRST, MAPPED_IPV4_LAST))
    ? []
    : networks.filter((network) => network.family === 4)
  return [...mergeFamily(ipv4), ...mergeFamily(ipv6)]
}

function mergeFamily(networks: readonly Network[]): Network[] {
  const sorted = [...networks].sort((a, b) => (a.first < b.first ? -1 : Number(a.first > b.first)))
  const merged: AddressRange[] = []
  for (const network of sorted) {
    const { family, first, last } = network
    const before = merged.at(-1)
    if (before === undefined || before.last + 1n < first) {
      merged.push({ family, first, last, network })
      continue
    }
    const end = last > before.last ? last : before.last
    merged[merged.length - 1] = { family, first: before.first, last: end, network: undefined }
  }
  return merged.flatMap((range) => range.network ?? rangeToNetworks(range.family, range.first, range.last))
}

const contains: Builtin = (args) => {
  const network = cidrOf(stringOperand(args, 0))
  const { family, first, last } = addressesOf(stringOperand(args, 1))
  return containsRange(network, family, first, last)
}

/** Networks overlap if one contains the first address of the other. */
const intersects: Builtin = (args) => {
  const a = cidrOf(stringOperand(args, 0))
  const b = cidrOf(stringOperand(args, 1))
  return containsRange(a, b.family, b.first, b.first) || containsRange(b, a.family, a.first, a.first)
}

export const networkAnswers: BuiltinTable = {
  'net.cidr_contains': contains,
  'net.cidr_intersects': intersects,
}
