import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { BuiltinError } from '../shared/builtin.js'

/** A range of addresses with a common prefix. `first` and `last` are integers. */
export interface Network {
  readonly family: IpFamily
  /** The address as written, which may have host bits. */
  readonly address: bigint
  readonly prefix: number
  readonly first: bigint
  readonly last: bigint
}

export interface IpAddress {
  readonly family: IpFamily
  readonly value: bigint
}

export type IpFamily = 4 | 6

const BITS: Readonly<Record<IpFamily, number>> = { 4: 32, 6: 128 }
const MAPPED_PREFIX_BITS = 96
const MAPPED_IPV4 = 0xffffn
const CIDR = /^([^/]*)\/(\d+)$/

/**
 * Parses `10.0.0.0/8` or `2001:db8::/32` like Go's net.ParseCIDR: strict addresses, no zone,
 * leading zeros in the prefix only. An IPv4-mapped IPv6 network of at least 96 bits becomes an IPv4
 * network. Returns undefined if it is invalid.
 */
export function parseCidr(text: string): Network | undefined {
  const [, host = '', digits = ''] = CIDR.exec(text) ?? []
  const family = strictFamily(host)
  if (family === undefined) return undefined
  const prefix = Number(digits)
  if (prefix > BITS[family]) return undefined
  const value = addressToInteger(host)
  if (family === 6 && prefix >= MAPPED_PREFIX_BITS && isMapped(value)) {
    return makeNetwork(4, value & 0xffff_ffffn, prefix - MAPPED_PREFIX_BITS, 'masked')
  }
  return makeNetwork(family, value, prefix, 'masked')
}

/** Parses an address without a prefix. An IPv4-mapped IPv6 address becomes an IPv4 address. */
export function parseIpAddress(text: string): IpAddress | undefined {
  const family = strictFamily(text)
  if (family === undefined) return undefined
  const value = addressToInteger(text)
  if (family === 6 && isMapped(value)) return { family: 4, value: value & 0xffff_ffffn }
  return { family, value }
}

/** Returns the network around `value`. `masked` clears the host bits of its address. */
export function makeNetwork(
  family: IpFamily,
  value: bigint,
  prefix: number,
  written: 'masked' | 'as is',
): Network {
  const hosts = (1n << BigInt(BITS[family] - prefix)) - 1n
  const last = value | hosts
  const first = last ^ hosts
  return { family, address: written === 'masked' ? first : value, prefix, first, last }
}

/** Returns true if the network contains all addresses from `first` to `last` of the family. */
export function containsRange(network: Network, family: IpFamily, first: bigint, last: bigint): boolean {
  return network.family === family && network.first <= first && last <= network.last
}

/** Returns the fewest networks that cover exactly `first` to `last`. */
export function rangeToNetworks(family: IpFamily, first: bigint, last: bigint): Network[] {
  const networks: Network[] = []
  for (let start = first; start <= last;) {
    let hostBits = 0
    while (hostBits < BITS[family]) {
      const size = 1n << BigInt(hostBits + 1)
      if (start % size !== 0n || start + size - 1n > last) break
      hostBits++
    }
    networks.push(makeNetwork(family, start, BITS[family] - hostBits, 'masked'))
    start += 1n << BigInt(hostBits)
  }
  return networks
}

/** Formats an address like Go: dotted IPv4 and mapped addresses, RFC 5952 for IPv6. */
export function formatAddress(family: IpFamily, value: bigint): string {
  if (family === 6 && isMapped(value)) return formatAddress(4, value & 0xffff_ffffn)
  const hex = value.toString(16).padStart(BITS[family] / 4, '0')
  if (family === 4) return [...Buffer.from(hex, 'hex')].join('.')
  const groups = (hex.match(/.{4}/g) ?? []).map((group) => Number(`0x${group}`).toString(16))
  const zeros = longestZeroRun(groups)
  if (zeros.length < 2) return groups.join(':')
  const after = groups.slice(zeros.start + zeros.length)
  return `${groups.slice(0, zeros.start).join(':')}::${after.join(':')}`
}

export function formatNetwork(network: Network): string {
  return `${formatAddress(network.family, network.address)}/${network.prefix}`
}

/** node:net is strict like Go, but accepts a zone, which Go does not. */
function strictFamily(text: string): IpFamily | undefined {
  if (text.includes('%')) return undefined
  const family = isIP(text)
  return family === 4 || family === 6 ? family : undefined
}

/** Returns the leftmost of the longest runs. */
function longestZeroRun(groups: readonly string[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 }
  let length = 0
  groups.forEach((group, i) => {
    length = group === '0' ? length + 1 : 0
    if (length > longest.length) longest = { start: i - length + 1, length }
  })
  return longest
}

function isMapped(value: bigint): boolean {
  return value >> 32n === MAPPED_IPV4
}

/** The zero keeps ipaddr.js from reading `::1.2.3.4` as `::ffff:1.2.3.4`. */
function addressToInteger(text: string): bigint {
  const bytes = ipaddr.parse(text.startsWith('::') ? `0${text}` : text).toByteArray()
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
}

/** Returns the range of a network or address. Throws BuiltinError for anything else. */
export function addressesOf(text: string): Pick<Network, 'family' | 'first' | 'last'> {
  const address = parseIpAddress(text)
  if (address !== undefined) return { family: address.family, first: address.value, last: address.value }
  const network = parseCidr(text)
  if (network !== undefined) return network
  throw new BuiltinError(`not a valid textual representation of an IP address or CIDR: ${text}`)
}

/** Parses a network. Throws BuiltinError if it is invalid. */
export function cidrOf(text: string): Network {
  const network = parseCidr(text)
  if (network === undefined) throw new BuiltinError(`invalid CIDR address: ${text}`)
  return network
}
