import { containsRange, rangeToNetworks } from './network.js'
import type { IpFamily, Network } from './network.js'

/** A stretch of addresses; `network` is set while it is still the single network that it came from. */
interface AddressRange {
  readonly family: IpFamily
  readonly first: bigint
  readonly last: bigint
  readonly network: Network | undefined
}

const MAPPED_IPV4_FIRST = 0xffffn << 32n
const MAPPED_IPV4_LAST = MAPPED_IPV4_FIRST | 0xffff_ffffn

/**
 * The fewest networks that cover the same addresses. A network that touches no other comes back as it was written. An
 * IPv6 network that holds the whole IPv4-mapped space (`::/0`) swallows the IPv4 networks, as in OPA.
 */
export function mergeNetworks(networks: readonly Network[]): Network[] {
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
