import ipaddr from 'ipaddr.js'

/**
 * Which hosts and addresses a client may connect to. Link-local, metadata, unspecified, multicast,
 * broadcast and reserved addresses are refused unless listed. Loopback and private ranges (RFC
 * 1918, unique local, carrier-grade NAT) are allowed by the flags. IPv4-mapped IPv6 addresses count
 * as IPv4.
 */
export interface AddressPolicy {
  readonly allowLoopback: boolean
  readonly allowPrivate: boolean
  /**
   * If not empty, only these hosts are allowed: names, `*.example.org` for all names below one, or
   * addresses.
   */
  readonly allowedHosts?: readonly string[]
  /** Addresses that are always allowed if the URL contains them literally, never through a name. */
  readonly allowedAddresses?: readonly string[]
}

/**
 * Fixed addresses at which Amazon, Azure and Google give credentials to machines and containers.
 * Only for clients that fetch credentials.
 */
export const PLATFORM_CREDENTIALS: readonly string[] = [
  '169.254.169.254',
  'fd00:ec2::254',
  '169.254.170.2',
  '169.254.170.23',
  'fd00:ec2::23',
  'fd20:ce::254',
]

type AddressKind = 'public' | 'loopback' | 'private' | 'metadata' | 'link-local' | 'reserved'
type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

/** Metadata addresses outside the link-local range, which is refused as a whole. */
const METADATA_RANGES: readonly Range[] = [
  // Alibaba Cloud, inside the range of carrier-grade NAT.
  [ipaddr.IPv4.parse('100.100.100.200'), 32],
  // Azure's wire server, a public address.
  [ipaddr.IPv4.parse('168.63.129.16'), 32],
  // Oracle Cloud.
  [ipaddr.IPv4.parse('192.0.0.192'), 32],
  // AWS: metadata, DNS, time and pod identity; then Google Cloud and Oracle Cloud. All are unique
  // local.
  [ipaddr.IPv6.parse('fd00:ec2::'), 32],
  [ipaddr.IPv6.parse('fd20:ce::254'), 128],
  [ipaddr.IPv6.parse('fd00:c1::a9fe:a9fe'), 128],
]
/** Prefix of NAT64 (RFC 6052), through which IPv6-only networks reach IPv4 addresses. */
const NAT64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96]
/** Global unicast addresses. Lower ranges contain forms that embed IPv4 addresses. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/** Why an address is refused, as the end of "X is …". Undefined if it is allowed. */
export function refuseAddress(address: string, policy: AddressPolicy): string | undefined {
  const kind = ipaddr.isValid(address) ? kindOf(unwrapIPv4(ipaddr.parse(address))) : 'reserved'
  switch (kind) {
    case 'public':
      return undefined
    case 'loopback':
      return policy.allowLoopback ? undefined : 'a loopback address, which is not allowed here'
    case 'private':
      return policy.allowPrivate ? undefined : 'a private address, which is not allowed here'
    case 'metadata':
      return 'the address of a metadata service, which is never allowed'
    case 'link-local':
      return 'a link-local address, which is never allowed'
    case 'reserved':
      return 'not an address of a single host, which is never allowed'
  }
}

function unwrapIPv4(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  return address.match(NAT64) ? new ipaddr.IPv4(address.toByteArray().slice(-4)) : address
}

function kindOf(address: Address): AddressKind {
  if (METADATA_RANGES.some((range) => range[0].kind() === address.kind() && address.match(range))) {
    return 'metadata'
  }
  switch (address.range()) {
    case 'unicast':
      return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST) ? 'public' : 'reserved'
    case 'loopback':
      return 'loopback'
    case 'private':
    case 'carrierGradeNat':
    case 'uniqueLocal':
      return 'private'
    case 'linkLocal':
      return 'link-local'
    default:
      return 'reserved'
  }
}

/**
 * Whether a host is on a list of names, addresses and `*.example.org` patterns. `host` is in lower
 * case and without the brackets of IPv6.
 */
export function isListedHost(host: string, list: readonly string[]): boolean {
  return list.some((entry) => {
    const listed = entry.toLowerCase()
    return listed.startsWith('*.') ? host.endsWith(listed.slice(1)) : host === listed
  })
}

/**
 * Whether a host name or address of a URL means this machine (RFC 6761, 6.3). Does not resolve
 * names.
 */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/^\[|\]$|\.$/g, '')
  if (/^(?:.+\.)?localhost$/.test(host)) return true
  return ipaddr.isValid(host) && kindOf(unwrapIPv4(ipaddr.parse(host))) === 'loopback'
}
