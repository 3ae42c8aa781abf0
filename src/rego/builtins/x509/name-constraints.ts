import type { WorkMeter } from '../../metering/work-meter.js'
import { contextTag, integerOf, membersOf, oidOf, sequenceOf, TAG } from './der.js'
import type { DerNode } from './der.js'
import { sortGeneralNames } from './names.js'
import type { GeneralNames } from './names.js'

/** The permitted and excluded names of a CA (RFC 5280, 4.2.1.10). */
export interface NameConstraints {
  readonly permitted: GeneralNames
  readonly excluded: GeneralNames
  /** True if a constraint is of an unsupported kind; the certificate verifies nothing. */
  readonly hasUnknownKind: boolean
}

/** Go's limit on comparisons per kind of name, which bounds the work for long lists. */
const MAX_COMPARISONS = 250_000
const COMPARISON_STEPS = 20

export function readNameConstraints(node: DerNode | undefined): NameConstraints | undefined {
  if (node === undefined) return undefined
  const members = sequenceOf(node)
  const basesOf = (number: number): DerNode[] => {
    const subtrees = members.find(({ tag }) => tag === contextTag(number, 'constructed'))
    return subtrees === undefined
      ? []
      : membersOf(subtrees).flatMap((subtree) => sequenceOf(subtree).slice(0, 1))
  }
  const [permitted, excluded] = [basesOf(0), basesOf(1)]
  const known = [contextTag(1), contextTag(2), contextTag(6), contextTag(7)]
  return {
    permitted: sortGeneralNames(permitted),
    excluded: sortGeneralNames(excluded),
    hasUnknownKind: [...permitted, ...excluded].some(({ tag }) => !known.includes(tag)),
  }
}

/** Returns true if a CA with these constraints may certify all of `names`. */
export function allowsNames(constraints: NameConstraints, names: GeneralNames, meter: WorkMeter): boolean {
  const { permitted, excluded } = constraints
  if (constraints.hasUnknownKind) return false
  return (
    allowsAll(names.dnsNames, permitted.dnsNames, excluded.dnsNames, isWithinDomain, meter) &&
    allowsAll(names.emails, permitted.emails, excluded.emails, isWithinMailConstraint, meter) &&
    allowsAll(names.uris, permitted.uris, excluded.uris, isWithinUriConstraint, meter) &&
    allowsAll(names.ips, permitted.ips, excluded.ips, isWithinIpRange, meter)
  )
}

function allowsAll<T>(
  names: readonly T[],
  permitted: readonly T[],
  excluded: readonly T[],
  isWithin: (name: T, constraint: T) => boolean,
  meter: WorkMeter,
): boolean {
  const comparisons = names.length * (permitted.length + excluded.length)
  if (comparisons > MAX_COMPARISONS) return false
  meter.spend(comparisons * COMPARISON_STEPS)
  return names.every(
    (name) =>
      !excluded.some((constraint) => isWithin(name, constraint)) &&
      (permitted.length === 0 || permitted.some((constraint) => isWithin(name, constraint))),
  )
}

/** `example.com` includes itself and subdomains, `.example.com` only these. */
function isWithinDomain(name: string, constraint: string): boolean {
  if (constraint === '') return true
  const [host, base] = [name.toLowerCase(), constraint.toLowerCase()]
  if (base.startsWith('.')) return host.endsWith(base)
  return host === base || host.endsWith(`.${base}`)
}

/** A constraint with `@` is one mailbox, otherwise a domain of hosts. */
function isWithinMailConstraint(mailbox: string, constraint: string): boolean {
  const at = mailbox.lastIndexOf('@')
  const host = mailbox.slice(at + 1)
  if (!constraint.includes('@')) return isWithinDomain(host, constraint)
  const constraintAt = constraint.lastIndexOf('@')
  const sameHost = host.toLowerCase() === constraint.slice(constraintAt + 1).toLowerCase()
  return sameHost && mailbox.slice(0, at) === constraint.slice(0, constraintAt)
}

function isWithinUriConstraint(uri: string, constraint: string): boolean {
  const host = /^[^:/?#]+:\/\/(?:[^@/?#]*@)?([^:/?#]*)/.exec(uri)?.[1] ?? ''
  return host !== '' && isWithinDomain(host, constraint)
}

/** The constraint is an address and a mask of the same length. */
function isWithinIpRange(ip: Buffer, constraint: Buffer): boolean {
  if (constraint.length !== ip.length * 2) return false
  return ip.every((byte, i) => {
    const mask = constraint[ip.length + i] ?? 0
    return (byte & mask) === ((constraint[i] ?? 0) & mask)
  })
}

/** Policy constraints (RFC 5280, 4.2.1.5, 4.2.1.11, 4.2.1.14); each may be absent. */
export interface PolicyConstraints {
  readonly inhibitAnyPolicy: bigint | undefined
  readonly inhibitPolicyMapping: bigint | undefined
  readonly requireExplicitPolicy: bigint | undefined
  readonly mappings: readonly { readonly issuer: string; readonly subject: string }[]
}

export const POLICY_OID = {
  mappings: '2.5.29.33',
  constraints: '2.5.29.36',
  inhibitAny: '2.5.29.54',
} as const

/** Reads the extensions returned by `find`. Throws BuiltinError for invalid ones. */
export function readPolicyConstraints(find: (oid: string) => DerNode | undefined): PolicyConstraints {
  const [constraints, inhibitAny] = [find(POLICY_OID.constraints), find(POLICY_OID.inhibitAny)]
  const limits = constraints === undefined ? [] : sequenceOf(constraints)
  const limit = (number: number): bigint | undefined => {
    const node = limits.find(({ tag }) => tag === contextTag(number))
    return node && integerOf({ ...node, tag: TAG.integer })
  }
  const mappings = find(POLICY_OID.mappings)
  return {
    inhibitAnyPolicy: inhibitAny && integerOf(inhibitAny),
    requireExplicitPolicy: limit(0),
    inhibitPolicyMapping: limit(1),
    mappings: (mappings === undefined ? [] : sequenceOf(mappings)).map((mapping) => {
      const [issuer, subject] = sequenceOf(mapping)
      return { issuer: oidOf(issuer), subject: oidOf(subject) }
    }),
  }
}
