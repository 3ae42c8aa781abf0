import type { RegoObject, RegoValue } from '../../values/value.js'
import {
  bitsOf,
  contextTag,
  expectTag,
  integerOf,
  leadingMembersOf,
  malformed,
  membersOf,
  readAll,
  sequenceOf,
  TAG,
  timeOf,
} from './der.js'
import type { DerNode } from './der.js'
import { goPublicKey } from './keys.js'
import { goName } from './names.js'
import { readExtension, readExtensionFields } from './extensions.js'
import type { Extension, ExtensionFields } from './extensions.js'

/** The parsed parts of a certificate that Go's JSON and the verification of chains need. */
export interface ParsedCertificate {
  readonly raw: Buffer
  readonly tbs: DerNode
  readonly version: number
  readonly serialNumber: bigint
  readonly signatureAlgorithm: DerNode
  readonly signature: Buffer
  readonly issuer: ParsedName
  readonly subject: ParsedName
  /** RFC 3339 in UTC, like all times here, so that they compare as text. */
  readonly notBefore: string
  readonly notAfter: string
  readonly publicKeyInfo: DerNode
  /** In the form of Go's type; null for a kind that Go does not support. */
  readonly publicKey: RegoValue
  readonly extensions: readonly Extension[]
  readonly fields: ExtensionFields
}

/** A distinguished name: its DER, and the form of Go's pkix.Name. */
export interface ParsedName {
  readonly raw: Buffer
  readonly value: RegoObject
}

/** Parses consecutive certificates in DER. Throws BuiltinError for an invalid one. */
export function parseCertificates(der: Buffer): ParsedCertificate[] {
  return readAll(der).map(parseCertificate)
}

/** Reads members in Go's order. Anything after the last known one is ignored. */
function parseCertificate(node: DerNode): ParsedCertificate {
  const [tbs, signatureAlgorithm, signature] = leadingMembersOf(node)
  const members = sequenceOf(tbs)
  const version = takeVersion(members)
  const [serial, innerAlgorithm, issuer, validity, subject, publicKeyInfo, ...rest] = members
  const serialNumber = integerOf(serial)
  if (tbs === undefined || serialNumber < 0n) throw malformed()
  const outerAlgorithm = expectTag(signatureAlgorithm, TAG.sequence)
  if (!outerAlgorithm.content.equals(expectTag(innerAlgorithm, TAG.sequence).content)) throw malformed()
  const [notBefore, notAfter] = sequenceOf(validity)
  if (notBefore === undefined || notAfter === undefined) throw malformed()
  const key = expectTag(publicKeyInfo, TAG.sequence)
  const extensions = readExtensions(version, rest)
  return {
    raw: node.raw,
    tbs,
    version,
    serialNumber,
    signatureAlgorithm: outerAlgorithm,
    signature: bitsOf(signature),
    issuer: readName(issuer),
    subject: readName(subject),
    notBefore: timeOf(notBefore),
    notAfter: timeOf(notAfter),
    publicKeyInfo: key,
    publicKey: goPublicKey(key),
    extensions,
    fields: readExtensionFields(extensions),
  }
}

function readName(node: DerNode | undefined): ParsedName {
  return { value: goName(node), raw: expectTag(node, TAG.sequence).raw }
}

/** Removes and returns the version (1 to 3), if it is written. */
function takeVersion(members: DerNode[]): number {
  if (members[0]?.tag !== contextTag(0, 'constructed')) return 1
  const [number] = membersOf(members.shift())
  const version = integerOf(number) + 1n
  if (version < 1n || version > 3n) throw malformed()
  return Number(version)
}

/** Extensions follow the optional unique identifiers of issuer and subject. */
function readExtensions(version: number, optional: readonly DerNode[]): Extension[] {
  if (version < 3) return []
  const [first] = optional.filter(({ tag }) => tag !== contextTag(1) && tag !== contextTag(2))
  if (first?.tag !== contextTag(3, 'constructed')) return []
  const extensions = sequenceOf(membersOf(first)[0]).map(readExtension)
  if (new Set(extensions.map(({ oid }) => oid)).size < extensions.length) throw malformed()
  return extensions
}
