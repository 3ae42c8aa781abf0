import { RegoNumber, RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { publicKeyAlgorithm, signatureAlgorithm } from './algorithms.js'
import { bitsOf, integerOf, malformed, membersOf, oidOf, readAll, sequenceOf, TAG } from './der.js'
import type { DerNode } from './der.js'
import { readExtension, readExtensionFields } from './extensions.js'
import type { Extension } from './extensions.js'
import { goExtension, goSubjectNames } from './go-certificate.js'
import { arcsOf, base64Of, listOrNull } from './go-values.js'
import { goPublicKey } from './keys.js'
import { goName } from './names.js'

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14'

/** A PKCS #10 request with the field names and forms of Go's x509.CertificateRequest in JSON. */
export function goCertificateRequest(der: Buffer): RegoObject {
  const [request, ...rest] = readAll(der)
  if (rest.length > 0) throw new BuiltinError('asn1: syntax error: trailing data')
  const [info, algorithm, signature] = sequenceOf(request)
  const [version, subject, publicKeyInfo, attributeSet] = sequenceOf(info)
  if (request === undefined || info === undefined || version === undefined) throw malformed()
  if (subject === undefined || publicKeyInfo === undefined) throw malformed()

  const attributes = attributeSet === undefined ? [] : membersOf(attributeSet)
  const extensions = attributes.flatMap(requestedExtensions)
  return RegoObject.fromRecord({
    Raw: base64Of(request.raw),
    RawTBSCertificateRequest: base64Of(info.raw),
    RawSubjectPublicKeyInfo: base64Of(publicKeyInfo.raw),
    RawSubject: base64Of(subject.raw),
    Version: RegoNumber.of(integerOf(version)),
    Signature: base64Of(bitsOf(signature)),
    SignatureAlgorithm: RegoNumber.of(signatureAlgorithm(algorithm)),
    PublicKeyAlgorithm: RegoNumber.of(publicKeyAlgorithm(publicKeyInfo)),
    PublicKey: goPublicKey(publicKeyInfo),
    Subject: goName(subject),
    Attributes: listOrNull(attributes.flatMap(goAttribute)),
    Extensions: listOrNull(extensions.map(goExtension)),
    ExtraExtensions: null,
    ...goSubjectNames(readExtensionFields(extensions).subjectNames),
  })
}

function requestedExtensions(attribute: DerNode): Extension[] {
  const [type, values] = membersOf(attribute)
  return oidOf(type) === EXTENSION_REQUEST ? membersOf(values).flatMap(membersOf).map(readExtension) : []
}

/** Go shows only the attributes whose values are lists of identifier and value pairs. */
function goAttribute(attribute: DerNode): RegoValue[] {
  const [type, values] = membersOf(attribute)
  const lists = membersOf(values)
  const pairs = lists.every(({ tag }) => tag === TAG.sequence) ? lists.map((list) => membersOf(list)) : []
  if (pairs.length === 0 || !pairs.flat().every(({ tag }) => tag === TAG.sequence)) return []
  const shown = pairs.map((list) =>
    list
      .map(readExtension)
      .map(({ oid, value }) => RegoObject.fromRecord({ Type: arcsOf(oid), Value: base64Of(value) })),
  )
  return [RegoObject.fromRecord({ Type: arcsOf(oidOf(type)), Value: shown })]
}
