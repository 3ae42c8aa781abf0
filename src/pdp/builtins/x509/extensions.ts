import { contextTag, integerOf, bitsOf, membersOf, oidOf, readAll, TAG } from './der.js'
import type { DerNode } from './der.js'
import { readGeneralNames, sortGeneralNames } from './general-names.js'
import type { GeneralNames } from './general-names.js'
import { readNameConstraints } from './name-constraints.js'
import type { NameConstraints } from './name-constraints.js'
import { POLICY_OID, readPolicyConstraints } from './policy-constraints.js'
import type { PolicyConstraints } from './policy-constraints.js'

export interface Extension {
  readonly oid: string
  readonly critical: boolean
  readonly value: Buffer
}

/** What the standard extensions of a certificate say (RFC 5280, 4.2). */
export interface ExtensionFields {
  /** Absent when the certificate has no basic constraints. */
  readonly basic: BasicConstraints | undefined
  /** Bit N is the Nth of RFC 5280's key usages; 0 when there is no such extension. */
  readonly keyUsage: number
  /** Object identifiers; absent when any purpose is allowed. */
  readonly extendedKeyUsages: readonly string[] | undefined
  readonly subjectKeyId: Buffer | undefined
  readonly authorityKeyId: Buffer | undefined
  readonly subjectNames: GeneralNames
  readonly crlUris: readonly string[]
  readonly ocspServers: readonly string[]
  readonly issuerUris: readonly string[]
  readonly policies: readonly string[]
  readonly nameConstraints: NameConstraints | undefined
  readonly policyConstraints: PolicyConstraints
  /** Critical extensions that are none of these. */
  readonly unhandledCritical: readonly string[]
}

export interface BasicConstraints {
  readonly isCa: boolean
  /** -1 when there is no limit. */
  readonly maxPathLength: number
}

const OID = {
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  crlDistributionPoints: '2.5.29.31',
  certificatePolicies: '2.5.29.32',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  authorityInfoAccess: '1.3.6.1.5.5.7.1.1',
} as const

const OCSP = '1.3.6.1.5.5.7.48.1'
const CA_ISSUERS = '1.3.6.1.5.5.7.48.2'
const HANDLED: ReadonlySet<string> = new Set([...Object.values(OID), ...Object.values(POLICY_OID)])

export function readExtension(node: DerNode): Extension {
  const members = membersOf(node)
  const critical = members[1]?.tag === TAG.boolean && members[1].content[0] !== 0
  return { oid: oidOf(members[0]), critical, value: members.at(-1)?.content ?? Buffer.alloc(0) }
}

export function readExtensionFields(extensions: readonly Extension[]): ExtensionFields {
  const find = (oid: string): DerNode | undefined => {
    const extension = extensions.find((candidate) => candidate.oid === oid)
    return extension && readAll(extension.value)[0]
  }
  const access = readAccess(find(OID.authorityInfoAccess))
  const usages = find(OID.extendedKeyUsage)
  return {
    basic: readBasicConstraints(find(OID.basicConstraints)),
    keyUsage: readKeyUsage(find(OID.keyUsage)),
    extendedKeyUsages: usages && membersOf(usages).map(oidOf),
    subjectKeyId: find(OID.subjectKeyId)?.content,
    authorityKeyId: optionalMembers(find(OID.authorityKeyId)).find(({ tag }) => tag === contextTag(0))
      ?.content,
    subjectNames: readGeneralNames(find(OID.subjectAltName)),
    crlUris: readCrlUris(find(OID.crlDistributionPoints)),
    ocspServers: access.filter(({ method }) => method === OCSP).flatMap(({ uris }) => uris),
    issuerUris: access.filter(({ method }) => method === CA_ISSUERS).flatMap(({ uris }) => uris),
    policies: optionalMembers(find(OID.certificatePolicies)).map((policy) => oidOf(membersOf(policy)[0])),
    nameConstraints: readNameConstraints(find(OID.nameConstraints)),
    policyConstraints: readPolicyConstraints(find),
    unhandledCritical: extensions
      .filter(({ critical, oid }) => critical && !HANDLED.has(oid))
      .map(({ oid }) => oid),
  }
}

function optionalMembers(node: DerNode | undefined): DerNode[] {
  return node === undefined ? [] : membersOf(node)
}

function readBasicConstraints(node: DerNode | undefined): BasicConstraints | undefined {
  if (node === undefined) return undefined
  const members = membersOf(node)
  const limit = members.find(({ tag }) => tag === TAG.integer)
  const isCa = members.some(({ tag, content }) => tag === TAG.boolean && content[0] !== 0)
  return { isCa, maxPathLength: limit === undefined ? -1 : Number(integerOf(limit)) }
}

/** DER writes the first usage in the highest bit. */
function readKeyUsage(node: DerNode | undefined): number {
  if (node === undefined) return 0
  const bits = bitsOf(node)
  let usage = 0
  for (let i = 0; i < 9; i++) {
    if (((bits[i >> 3] ?? 0) & (0x80 >> (i & 7))) !== 0) usage |= 1 << i
  }
  return usage
}

function readCrlUris(node: DerNode | undefined): readonly string[] {
  return optionalMembers(node).flatMap((point) => {
    const name = membersOf(point).find(({ tag }) => tag === contextTag(0, 'constructed'))
    const fullName = optionalMembers(name).find(({ tag }) => tag === contextTag(0, 'constructed'))
    return readGeneralNames(fullName).uris
  })
}

function readAccess(node: DerNode | undefined): { method: string; uris: readonly string[] }[] {
  return optionalMembers(node).map((description) => {
    const [method, ...location] = membersOf(description)
    return { method: oidOf(method), uris: sortGeneralNames(location).uris }
  })
}
