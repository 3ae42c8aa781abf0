import { RegoNumber, RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { publicKeyAlgorithm, signatureAlgorithm } from './algorithms.js'
import type { ParsedCertificate } from './certificate.js'
import { EXTENDED_KEY_USAGES } from './extensions.js'
import type { Extension } from './extensions.js'
import { formatIp, goUri } from './names.js'
import type { GeneralNames } from './names.js'
import { arcsOf, base64Of, listOrNull } from './go-values.js'
import type { PolicyConstraints } from './name-constraints.js'

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
