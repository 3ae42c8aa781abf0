import { bitsOf, contextTag, integerOf, malformed, membersOf, readAll, TAG, timeOf } from './der.js'
import type { DerNode } from './der.js'
import { readExtension, readExtensionFields } from './extensions.js'
import type { Extension, ExtensionFields } from './extensions.js'

/** A certificate read so far as Go's JSON of it and the verification of chains need. */
export interface ParsedCertificate {
  readonly raw: Buffer
  readonly tbs: DerNode
  readonly version: number
  readonly serialNumber: bigint
  readonly signatureAlgorithm: DerNode
  readonly signature: Buffer
  readonly issuer: DerNode
  readonly subject: DerNode
  /** RFC 3339 in UTC, as all times here: their order is that of the texts. */
  readonly notBefore: string
  readonly notAfter: string
  readonly publicKeyInfo: DerNode
  readonly extensions: readonly Extension[]
  readonly fields: ExtensionFields
}

/** The certificates that are one after the other in DER; raises BuiltinError on a broken one. */
export function parseCertificates(der: Buffer): ParsedCertificate[] {
  return readAll(der).map(parseCertificate)
}

function parseCertificate(node: DerNode): ParsedCertificate {
  const [tbs, signatureAlgorithm, signature] = membersOf(node)
  if (tbs === undefined || signatureAlgorithm === undefined) throw malformed()
  const members = membersOf(tbs)
  const versioned = members[0]?.tag === contextTag(0, 'constructed')
  const version = versioned ? membersOf(members[0]).map(integerOf)[0] : 0n
  const [serial, , issuer, validity, subject, publicKeyInfo, ...rest] = versioned ? members.slice(1) : members
  if (serial === undefined || issuer === undefined || subject === undefined || publicKeyInfo === undefined) {
    throw malformed()
  }
  const [notBefore, notAfter] = membersOf(validity).map(timeOf)
  if (notBefore === undefined || notAfter === undefined || version === undefined) throw malformed()
  const extensions = readExtensions(rest)
  return {
    raw: node.raw,
    tbs,
    version: Number(version) + 1,
    serialNumber: integerOf(serial),
    signatureAlgorithm,
    signature: bitsOf(signature),
    issuer,
    subject,
    notBefore,
    notAfter,
    publicKeyInfo,
    extensions,
    fields: readExtensionFields(extensions),
  }
}

function readExtensions(optional: readonly DerNode[]): Extension[] {
  const wrapper = optional.find(({ tag }) => tag === contextTag(3, 'constructed'))
  if (wrapper === undefined) return []
  const [list] = membersOf(wrapper)
  if (list?.tag !== TAG.sequence) throw malformed()
  return membersOf(list).map(readExtension)
}
