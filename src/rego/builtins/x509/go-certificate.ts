import { createECDH, createPrivateKey } from 'node:crypto'
import type { JsonWebKey, JsonWebKeyInput, KeyObject, PrivateKeyInput } from 'node:crypto'
import { RegoNumber, RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { integerOfBase64Url } from '../encoding/go-base64.js'
import { readPemBlock } from '../encoding/pem-block.js'
import { BuiltinError } from '../shared/builtin.js'
import { publicKeyAlgorithm, signatureAlgorithm, KEY_OID } from './algorithms.js'
import type { ParsedCertificate } from './certificate.js'
import {
  bitsOf,
  contextTag,
  expectTag,
  integerOf,
  leadingMembersOf,
  oidOf,
  readFirst,
  sequenceOf,
  sequenceOfAll,
  TAG,
} from './der.js'
import type { DerNode } from './der.js'
import { EXTENDED_KEY_USAGES } from './extensions.js'
import type { Extension } from './extensions.js'
import { arcsOf, base64Of, listOrNull } from './go-values.js'
import type { PolicyConstraints } from './name-constraints.js'
import { formatIp, goUri } from './names.js'
import type { GeneralNames } from './names.js'

/** Converts a certificate to the JSON of Go's x509.Certificate with OPA's URIStrings. */
export function goCertificate(certificate: ParsedCertificate): RegoObject {
  return new RegoObject([
    ...Object.entries(mainFields(certificate)),
    ...Object.entries(extensionFields(certificate)),
    ...Object.entries(goSubjectNames(certificate.fields.subjectNames)),
    ...Object.entries(constraintFields(certificate)),
    ...Object.entries(policyFields(certificate.fields.policyConstraints)),
    ['URIStrings', listOrNull(certificate.fields.subjectNames.uris)],
  ])
}

/** Removes the members that OPA adds to Go's type. */
export function withoutUriStrings(certificate: RegoObject): RegoObject {
  return new RegoObject(certificate.entries.filter(([name]) => name !== 'URIStrings'))
}

function mainFields(certificate: ParsedCertificate): Record<string, RegoValue> {
  const { publicKeyInfo, publicKey, issuer, subject } = certificate
  return {
    Raw: base64Of(certificate.raw),
    RawTBSCertificate: base64Of(certificate.tbs.raw),
    RawSubjectPublicKeyInfo: base64Of(publicKeyInfo.raw),
    RawSubject: base64Of(subject.raw),
    RawIssuer: base64Of(issuer.raw),
    Signature: base64Of(certificate.signature),
    SignatureAlgorithm: RegoNumber.of(signatureAlgorithm(certificate.signatureAlgorithm)),
    PublicKeyAlgorithm: RegoNumber.of(publicKeyAlgorithm(publicKeyInfo)),
    PublicKey: publicKey,
    Version: RegoNumber.of(certificate.version),
    SerialNumber: RegoNumber.of(certificate.serialNumber),
    Issuer: issuer.value,
    Subject: subject.value,
    NotBefore: certificate.notBefore,
    NotAfter: certificate.notAfter,
  }
}

function extensionFields({ fields, extensions }: ParsedCertificate): Record<string, RegoValue> {
  const usages = fields.extendedKeyUsages ?? []
  const known = usages.map((oid) => EXTENDED_KEY_USAGES.indexOf(oid)).filter((number) => number >= 0)
  const unknown = usages.filter((oid) => !EXTENDED_KEY_USAGES.includes(oid))
  const pathLength = fields.basic?.maxPathLength ?? 0
  return {
    KeyUsage: RegoNumber.of(fields.keyUsage),
    Extensions: listOrNull(extensions.map(goExtension)),
    ExtraExtensions: null,
    UnhandledCriticalExtensions: listOrNull(fields.unhandledCritical.map(arcsOf)),
    ExtKeyUsage: listOrNull(known.map((number) => RegoNumber.of(number))),
    UnknownExtKeyUsage: listOrNull(unknown.map(arcsOf)),
    BasicConstraintsValid: fields.basic !== undefined,
    IsCA: fields.basic?.isCa ?? false,
    MaxPathLen: RegoNumber.of(pathLength),
    MaxPathLenZero: fields.basic !== undefined && pathLength === 0,
    SubjectKeyId: optionalBytes(fields.subjectKeyId),
    AuthorityKeyId: optionalBytes(fields.authorityKeyId),
    OCSPServer: listOrNull(fields.ocspServers),
    IssuingCertificateURL: listOrNull(fields.issuerUris),
    CRLDistributionPoints: listOrNull(fields.crlUris),
    PolicyIdentifiers: listOrNull(fields.policies.map(arcsOf)),
    Policies: listOrNull(fields.policies),
  }
}

function constraintFields({ fields, extensions }: ParsedCertificate): Record<string, RegoValue> {
  const constraints = fields.nameConstraints
  const [permitted, excluded] = [constraints?.permitted, constraints?.excluded]
  return {
    PermittedDNSDomainsCritical: extensions.some(({ oid, critical }) => oid === '2.5.29.30' && critical),
    PermittedDNSDomains: listOrNull(permitted?.dnsNames ?? []),
    ExcludedDNSDomains: listOrNull(excluded?.dnsNames ?? []),
    PermittedIPRanges: listOrNull((permitted?.ips ?? []).map(goIpRange)),
    ExcludedIPRanges: listOrNull((excluded?.ips ?? []).map(goIpRange)),
    PermittedEmailAddresses: listOrNull(permitted?.emails ?? []),
    ExcludedEmailAddresses: listOrNull(excluded?.emails ?? []),
    PermittedURIDomains: listOrNull(permitted?.uris ?? []),
    ExcludedURIDomains: listOrNull(excluded?.uris ?? []),
  }
}

/** Go distinguishes a limit of 0 from none by a separate field. */
function policyFields({
  inhibitAnyPolicy,
  inhibitPolicyMapping,
  requireExplicitPolicy,
  mappings,
}: PolicyConstraints): Record<string, RegoValue> {
  return {
    InhibitAnyPolicy: RegoNumber.of(inhibitAnyPolicy ?? 0),
    InhibitAnyPolicyZero: inhibitAnyPolicy === 0n,
    InhibitPolicyMapping: RegoNumber.of(inhibitPolicyMapping ?? 0),
    InhibitPolicyMappingZero: inhibitPolicyMapping === 0n,
    RequireExplicitPolicy: RegoNumber.of(requireExplicitPolicy ?? 0),
    RequireExplicitPolicyZero: requireExplicitPolicy === 0n,
    PolicyMappings: listOrNull(
      mappings.map(({ issuer, subject }) =>
        RegoObject.fromRecord({ IssuerDomainPolicy: issuer, SubjectDomainPolicy: subject }),
      ),
    ),
  }
}

/** Converts the alternative names of a certificate or request. */
export function goSubjectNames(names: GeneralNames): Record<string, RegoValue> {
  return {
    DNSNames: listOrNull(names.dnsNames),
    EmailAddresses: listOrNull(names.emails),
    IPAddresses: listOrNull(names.ips.map(formatIp)),
    URIs: listOrNull(names.uris.map(goUri)),
  }
}

export function goExtension({ oid, critical, value }: Extension): RegoObject {
  return RegoObject.fromRecord({ Id: arcsOf(oid), Critical: critical, Value: base64Of(value) })
}

function goIpRange(range: Buffer): RegoObject {
  const half = range.length / 2
  return RegoObject.fromRecord({
    IP: formatIp(range.subarray(0, half)),
    Mask: base64Of(range.subarray(half)),
  })
}

function optionalBytes(bytes: Buffer | undefined): string | null {
  return bytes === undefined ? null : base64Of(bytes)
}

/** DER forms of private keys by the label of the PEM block. */
const FORMS: Readonly<Record<string, 'pkcs1' | 'pkcs8' | 'sec1'>> = {
  'RSA PRIVATE KEY': 'pkcs1',
  'PRIVATE KEY': 'pkcs8',
  'EC PRIVATE KEY': 'sec1',
}

/** The kinds of keys that Go reads from PKCS #8. */
const IN_PKCS8: ReadonlySet<string> = new Set([KEY_OID.rsa, KEY_OID.ec, KEY_OID.ed25519, KEY_OID.x25519])
/** Go's curves by object identifier (RFC 5480), without P-224, which JWKs lack. */
const CURVES: Readonly<Record<string, Curve>> = {
  '1.2.840.10045.3.1.7': { name: 'P-256', openssl: 'prime256v1', bytes: 32 },
  '1.3.132.0.34': { name: 'P-384', openssl: 'secp384r1', bytes: 48 },
  '1.3.132.0.35': { name: 'P-521', openssl: 'secp521r1', bytes: 66 },
}

/** Reads the unencrypted private keys in PEM blocks. Throws BuiltinError. */
export function readPrivateKeys(pem: string): KeyObject[] {
  const keys: KeyObject[] = []
  for (let block = readPemBlock(pem); block !== undefined; block = readPemBlock(block.rest)) {
    const form = FORMS[block.type]
    if (form !== undefined) keys.push(importPrivateKey(block.der, form))
  }
  return keys
}

/** Imports a private key in any DER form, tried in the order of Go's crypto/tls. */
export function importAnyPrivateKey(der: Buffer): KeyObject {
  for (const form of ['pkcs1', 'pkcs8', 'sec1'] as const) {
    try {
      return importPrivateKey(der, form)
    } catch (raw) {
      if (!(raw instanceof BuiltinError)) throw raw
    }
  }
  throw new BuiltinError('tls: failed to parse private key')
}

function importPrivateKey(der: Buffer, type: 'pkcs1' | 'pkcs8' | 'sec1'): KeyObject {
  const key = makeKey(sourceOf(der, type))
  if (key.asymmetricKeyType === 'rsa') refuseInconsistent(key)
  return key
}

function sourceOf(der: Buffer, type: 'pkcs1' | 'pkcs8' | 'sec1'): PrivateKeyInput | JsonWebKeyInput {
  if (type === 'pkcs1') {
    // OpenSSL ignores bytes after the key. Go does so in the other two forms only.
    if (readFirst(der).raw.length < der.length) throw broken()
    return { key: der, format: 'der', type }
  }
  if (type === 'sec1') return { key: ecPrivateKey(der, undefined), format: 'jwk' }
  return sourceWithin(leadingMembersOf(readFirst(der)))
}

function makeKey(source: PrivateKeyInput | JsonWebKeyInput): KeyObject {
  try {
    return createPrivateKey(source)
  } catch {
    throw broken()
  }
}

/** Like Go, refuses an RSA key whose numbers are inconsistent (RFC 8017, 3.2). */
function refuseInconsistent(key: KeyObject): void {
  const { n, e, d, p, q } = key.export({ format: 'jwk' })
  const [modulus, exponent, secret, first, second] = [n, e, d, p, q].map(integerOfBase64Url)
  if (!modulus || !exponent || !secret || !first || !second) throw broken()
  if (first === 1n || second === 1n) throw broken()
  const product = exponent * secret
  if (first * second !== modulus || product % (first - 1n) !== 1n || product % (second - 1n) !== 1n)
    throw broken()
}

/** Returns the key of PKCS #8 (RFC 5208) without trailing members, which Go ignores. */
function sourceWithin(members: readonly DerNode[]): PrivateKeyInput | JsonWebKeyInput {
  const [, algorithm, key] = members
  const [oid, curve] = sequenceOf(algorithm)
  const kind = oidOf(oid)
  if (!IN_PKCS8.has(kind)) throw broken()
  if (kind !== KEY_OID.ec) return { key: sequenceOfAll(members.slice(0, 3)), format: 'der', type: 'pkcs8' }
  return { key: ecPrivateKey(expectTag(key, TAG.octetString).content, curve), format: 'jwk' }
}

/** Go ignores the stored public point (RFC 5915) and computes it. */
function ecPrivateKey(der: Buffer, given: DerNode | undefined): JsonWebKey {
  const [version, number, ...rest] = leadingMembersOf(readFirst(der))
  if (integerOf(version) !== 1n) throw broken()
  const explicit = (number: number): DerNode | undefined =>
    rest.find(({ tag }) => tag === contextTag(number, 'constructed'))
  const parameters = firstWithin(explicit(0))
  const point = explicit(1)
  if (point !== undefined) bitsOf(firstWithin(point))
  const curve = CURVES[oidOf(given ?? parameters)]
  if (curve === undefined) throw broken()
  const written = expectTag(number, TAG.octetString).content
  const excess = Math.max(0, written.length - curve.bytes)
  if (written.subarray(0, excess).some((byte) => byte !== 0)) throw broken()
  const d = Buffer.alloc(curve.bytes)
  written.copy(d, Math.max(0, curve.bytes - written.length), excess)
  return { kty: 'EC', crv: curve.name, d: d.toString('base64url'), ...pointOf(curve, d) }
}

function firstWithin(node: DerNode | undefined): DerNode | undefined {
  return node && leadingMembersOf({ ...node, tag: TAG.sequence })[0]
}

interface Curve {
  readonly name: string
  readonly openssl: string
  readonly bytes: number
}

function pointOf({ openssl, bytes }: Curve, d: Buffer): { x: string; y: string } {
  try {
    const ecdh = createECDH(openssl)
    ecdh.setPrivateKey(d)
    const point = ecdh.getPublicKey()
    const half = (from: number): string => point.subarray(from, from + bytes).toString('base64url')
    return { x: half(1), y: half(1 + bytes) }
  } catch {
    throw broken()
  }
}

function broken(): BuiltinError {
  return new BuiltinError('x509: failed to parse private key')
}
