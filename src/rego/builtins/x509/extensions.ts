import {
  bitsOf,
  booleanOf,
  contextTag,
  expectTag,
  integerOf,
  malformed,
  membersOf,
  oidOf,
  readAll,
  sequenceOf,
  TAG,
} from './der.js'
import type { DerNode } from './der.js'
import { readSubjectNames, sortGeneralNames } from './names.js'
import type { GeneralNames } from './names.js'
import { POLICY_OID, readNameConstraints, readPolicyConstraints } from './name-constraints.js'
import type { NameConstraints, PolicyConstraints } from './name-constraints.js'

export interface Extension {
  readonly oid: string
  readonly critical: boolean
  readonly value: Buffer
}

/** The standard extensions of a certificate (RFC 5280, 4.2). */
export interface ExtensionFields {
  /** Absent if the certificate has no basic constraints. */
  readonly basic: BasicConstraints | undefined
  /** Bit N is the Nth of RFC 5280's key usages; 0 without the extension. */
  readonly keyUsage: number
  /** Object identifiers; absent if any purpose is permitted. */
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
  /** Critical extensions that are not handled. */
  readonly unhandledCritical: readonly string[]
}

export interface BasicConstraints {
  readonly isCa: boolean
  /** -1 if there is no limit. */
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
const NEVER_CRITICAL: ReadonlySet<string> = new Set([
  OID.authorityKeyId,
  OID.subjectKeyId,
  OID.authorityInfoAccess,
])
const HANDLED: ReadonlySet<string> = new Set([...Object.values(OID), ...Object.values(POLICY_OID)])

export function readExtension(node: DerNode): Extension {
  const [oid, second, third] = sequenceOf(node)
  const isMarked = second?.tag === TAG.boolean
  const value = expectTag(isMarked ? third : second, TAG.octetString)
  return { oid: oidOf(oid), critical: isMarked && booleanOf(second), value: value.content }
}

export function readExtensionFields(extensions: readonly Extension[]): ExtensionFields {
  const find = (oid: string): DerNode | undefined => {
    const extension = extensions.find((candidate) => candidate.oid === oid)
    if (extension === undefined) return undefined
    // RFC 5280 forbids that these are critical, and Go refuses such certificates.
    if (extension.critical && NEVER_CRITICAL.has(oid)) throw malformed()
    const [value] = readAll(extension.value)
    if (value === undefined) throw malformed()
    return value
  }
  const access = readAccess(find(OID.authorityInfoAccess))
  const usages = find(OID.extendedKeyUsage)
  const subjectKeyId = find(OID.subjectKeyId)
  const [authorityKeyId] = optionalMembers(find(OID.authorityKeyId))
  return {
    basic: readBasicConstraints(find(OID.basicConstraints)),
    keyUsage: readKeyUsage(find(OID.keyUsage)),
    extendedKeyUsages: usages && sequenceOf(usages).map(oidOf),
    subjectKeyId: subjectKeyId && expectTag(subjectKeyId, TAG.octetString).content,
    authorityKeyId: authorityKeyId?.tag === contextTag(0) ? authorityKeyId.content : undefined,
    subjectNames: readSubjectNames(find(OID.subjectAltName)),
    crlUris: readCrlUris(find(OID.crlDistributionPoints)),
    ocspServers: access.filter(({ method }) => method === OCSP).flatMap(({ uris }) => uris),
    issuerUris: access.filter(({ method }) => method === CA_ISSUERS).flatMap(({ uris }) => uris),
    policies: optionalMembers(find(OID.certificatePolicies)).map((policy) => oidOf(sequenceOf(policy)[0])),
    nameConstraints: readNameConstraints(find(OID.nameConstraints)),
    policyConstraints: readPolicyConstraints(find),
    unhandledCritical: extensions
      .filter(({ critical, oid }) => critical && !HANDLED.has(oid))
      .map(({ oid }) => oid),
  }
}

function optionalMembers(node: DerNode | undefined): DerNode[] {
  return node === undefined ? [] : sequenceOf(node)
}

function readBasicConstraints(node: DerNode | undefined): BasicConstraints | undefined {
  if (node === undefined) return undefined
  const [first, ...rest] = sequenceOf(node)
  const isMarked = first?.tag === TAG.boolean
  const limit = isMarked ? rest[0] : first
  const maxPathLength = limit?.tag === TAG.integer ? integerOf(limit) : -1n
  if (limit?.tag === TAG.integer && (maxPathLength < 0n || maxPathLength >= 1n << 63n)) throw malformed()
  return { isCa: isMarked && booleanOf(first), maxPathLength: Number(maxPathLength) }
}

/** DER stores the first usage in the highest bit. */
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
    const [name] = sequenceOf(point)
    if (name?.tag !== contextTag(0, 'constructed')) return []
    const [fullName] = membersOf(name)
    const uris = membersOf(expectTag(fullName, contextTag(0, 'constructed')))
    const end = uris.findIndex(({ tag }) => tag !== contextTag(6))
    return sortGeneralNames(end === -1 ? uris : uris.slice(0, end)).uris
  })
}

function readAccess(node: DerNode | undefined): { method: string; uris: readonly string[] }[] {
  return optionalMembers(node).map((description) => {
    const [method, location] = sequenceOf(description)
    return { method: oidOf(method), uris: sortGeneralNames(location === undefined ? [] : [location]).uris }
  })
}

/** Object identifiers of extended key usages. The index is the number in Go's x509.ExtKeyUsage. */
export const EXTENDED_KEY_USAGES: readonly string[] = [
  '2.5.29.37.0',
  '1.3.6.1.5.5.7.3.1',
  '1.3.6.1.5.5.7.3.2',
  '1.3.6.1.5.5.7.3.3',
  '1.3.6.1.5.5.7.3.4',
  '1.3.6.1.5.5.7.3.5',
  '1.3.6.1.5.5.7.3.6',
  '1.3.6.1.5.5.7.3.7',
  '1.3.6.1.5.5.7.3.8',
  '1.3.6.1.5.5.7.3.9',
  '1.3.6.1.4.1.311.10.3.3',
  '2.16.840.1.113730.4.1',
  '1.3.6.1.4.1.311.2.1.22',
  '1.3.6.1.4.1.311.61.1.1',
]

export const ANY_USAGE = '2.5.29.37.0'
export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'

const NAMES: readonly string[] = [
  'KeyUsageAny',
  'KeyUsageServerAuth',
  'KeyUsageClientAuth',
  'KeyUsageCodeSigning',
  'KeyUsageEmailProtection',
  'KeyUsageIPSECEndSystem',
  'KeyUsageIPSECTunnel',
  'KeyUsageIPSECUser',
  'KeyUsageTimeStamping',
  'KeyUsageOCSPSigning',
  'KeyUsageMicrosoftServerGatedCrypto',
  'KeyUsageNetscapeServerGatedCrypto',
  'KeyUsageMicrosoftCommercialCodeSigning',
  'KeyUsageMicrosoftKernelCodeSigning',
]

/** Returns the object identifier of a usage by its name in OPA's options (`KeyUsageServerAuth`). */
export function usageByName(name: string): string | undefined {
  const number = NAMES.indexOf(name)
  return number < 0 ? undefined : EXTENDED_KEY_USAGES[number]
}
