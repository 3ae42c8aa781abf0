import { createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import type { WorkMeter } from '../../metering/work-meter.js'
import { printGoJson } from '../../values/print-go-json.js'
import { RegoNumber, RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { decodeGoBase64 } from '../encoding/go-base64.js'
import { readPemBlock } from '../encoding/pem-block.js'
import type { PemBlock } from '../encoding/pem-block.js'
import { BuiltinError } from '../shared/builtin.js'
import type { BuiltinContext, BuiltinTable } from '../shared/builtin.js'
import { objectOperand, stringOperand, wrongType } from '../shared/operands.js'
import { publicKeyAlgorithm, signatureAlgorithm } from './algorithms.js'
import { parseCertificates } from './certificate.js'
import type { ParsedCertificate } from './certificate.js'
import { bitsOf, integerOf, malformed, membersOf, oidOf, readAll, sequenceOf, TAG } from './der.js'
import type { DerNode } from './der.js'
import { readExtension, readExtensionFields } from './extensions.js'
import type { Extension } from './extensions.js'
import {
  goCertificate,
  goExtension,
  goSubjectNames,
  withoutUriStrings,
  importAnyPrivateKey,
  readPrivateKeys,
} from './go-certificate.js'
import { arcsOf, base64Of, listOrNull } from './go-values.js'
import { goPrivateKey, goPublicKey, importPublicKey, jwkOfPrivateKey } from './keys.js'
import { goName } from './names.js'
import { defaultOptions, readVerifyOptions, verifyChain } from './verify-chain.js'
import type { ChainOptions } from './verify-chain.js'

type Args = readonly RegoValue[]

/** Cost in evaluation steps of creating a private key from its numbers. */
const KEY_STEPS = 30_000

/** X.509 certificates, requests and private keys in the JSON of Go's crypto packages. */
export const x509Builtins: BuiltinTable = {
  'crypto.parse_private_keys': parsePrivateKeys,
  'crypto.x509.parse_and_verify_certificates': parseAndVerify,
  'crypto.x509.parse_and_verify_certificates_with_options': parseAndVerifyWithOptions,
  'crypto.x509.parse_certificate_request': (args) =>
    goCertificateRequest(readRequest(stringOperand(args, 0))),
  'crypto.x509.parse_certificates': (args) => readCertificates(stringOperand(args, 0)).map(goCertificate),
  'crypto.x509.parse_keypair': parseKeyPair,
  'crypto.x509.parse_rsa_private_key': parseRsaPrivateKey,
}

/** Returns certificates (PEM, or DER in base64) as a list in JSON, as Go prints its structure. */
export function printCertificates(text: string): string {
  return printGoJson(
    readCertificates(text).map((certificate) => withoutUriStrings(goCertificate(certificate))),
  )
}

/** Returns `[true, chain]` from the last certificate to the first, or `[false, []]`. */
function parseAndVerify(args: Args, context: BuiltinContext): RegoValue {
  const certificates = readCertificatesIfAny(stringOperand(args, 0)) ?? []
  return verify(certificates, defaultOptions(context.nowNs), context.meter)
}

function parseAndVerifyWithOptions(args: Args, context: BuiltinContext): RegoValue {
  const text = stringOperand(args, 0)
  const source = objectOperand(args, 1)
  const certificates = readCertificatesIfAny(text)
  if (certificates === undefined) return [false, []]
  return verify(certificates, readVerifyOptions(source, context.nowNs), context.meter, 'as Go')
}

/** Returns undefined if the text is invalid. An empty text has no certificates. */
function readCertificatesIfAny(text: string): ParsedCertificate[] | undefined {
  try {
    return readCertificates(text)
  } catch (raw) {
    if (raw instanceof BuiltinError) return undefined
    throw raw
  }
}

function verify(
  certificates: readonly ParsedCertificate[],
  options: ChainOptions,
  meter: WorkMeter,
  form: 'as Go' | 'with URIStrings' = 'with URIStrings',
): RegoValue {
  const chain = verifyChain(certificates, options, meter)
  if (chain === undefined) return [false, []]
  const shown = chain.map(goCertificate)
  return [true, form === 'as Go' ? shown.map(withoutUriStrings) : shown]
}

function parseKeyPair(args: Args, { meter }: BuiltinContext): RegoValue {
  meter.spend(KEY_STEPS)
  const certificate = stringOperand(args, 0)
  const key = args[1] ?? null
  return goKeyPair(certificate, typeof key === 'string' ? key : wrongType(0, key, 'string'))
}

function parsePrivateKeys(args: Args): RegoValue {
  const text = stringOperand(args, 0)
  return text === '' ? null : readPrivateKeys(decodeOrKeep(text)).map(goPrivateKey)
}

function decodeOrKeep(text: string): string {
  try {
    return decodeGoBase64(text, 'standard').toString('latin1')
  } catch (raw) {
    if (raw instanceof BuiltinError) return text
    throw raw
  }
}

/** Returns the JWK of the first private key, or null if there is none. */
function parseRsaPrivateKey(args: Args, { meter }: BuiltinContext): RegoValue {
  meter.spend(KEY_STEPS)
  const text = stringOperand(args, 0)
  if (text === '') throw new BuiltinError('input PEM data was empty')
  const pem = text.startsWith('-----BEGIN') ? text : decodeGoBase64(text, 'standard').toString('latin1')
  const [key] = readPrivateKeys(decodeOrKeep(pem))
  return key === undefined ? null : jwkOfPrivateKey(key)
}

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14'

/** Converts a PKCS #10 request to the JSON of Go's x509.CertificateRequest. */
function goCertificateRequest(der: Buffer): RegoObject {
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

/** Go only shows attributes whose values are lists of identifier and value pairs. */
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

const BEGIN = '-----BEGIN '
const CERTIFICATE = 'CERTIFICATE'

type Block = Pick<PemBlock, 'type' | 'der'>

/** Converts a certificate chain and the key of its first to Go's tls.Certificate. */
function goKeyPair(certificateText: string, keyText: string): RegoObject {
  const certificateBlocks = readBlocks(certificateText, CERTIFICATE)
  const keyBlocks = readBlocks(keyText, 'PRIVATE KEY')
  const chain = certificateBlocks.filter(({ type }) => type === CERTIFICATE).map(({ der }) => der)
  const [leafDer] = chain
  if (leafDer === undefined) throw new BuiltinError(missingCertificate(certificateBlocks))
  const keyDer = keyBlocks.find(isPrivateKey)?.der
  if (keyDer === undefined) throw new BuiltinError(missingKey(keyBlocks))

  const [leaf] = parseCertificates(leafDer)
  if (leaf === undefined) throw malformed()
  const key = importAnyPrivateKey(keyDer)
  checkPair(key, leaf.publicKeyInfo.raw)
  return RegoObject.fromRecord({
    Certificate: chain.map(base64Of),
    PrivateKey: goPrivateKey(key),
    Leaf: withoutUriStrings(goCertificate(leaf)),
    OCSPStaple: null,
    SignedCertificateTimestamps: null,
    SupportedSignatureAlgorithms: null,
  })
}

/** A text that is not PEM is base64 of PEM or of the DER of one block. */
function readBlocks(text: string, typeOfDer: string): Block[] {
  const bytes = text.startsWith(BEGIN) ? Buffer.from(text) : decodeGoBase64(text, 'standard')
  const pem = bytes.toString('latin1')
  if (!pem.startsWith(BEGIN)) return [{ type: typeOfDer, der: bytes }]
  const blocks: Block[] = []
  for (let block = readPemBlock(pem); block !== undefined; block = readPemBlock(block.rest))
    blocks.push(block)
  return blocks
}

function isPrivateKey({ type }: Block): boolean {
  return type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY')
}

function missingCertificate(blocks: readonly Block[]): string {
  const [first] = blocks
  if (first === undefined) return 'tls: failed to find any PEM data in certificate input'
  const spoken = blocks.map(({ type }) => type).join(' ')
  return blocks.length === 1 && isPrivateKey(first)
    ? 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
    : `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${spoken}]`
}

function missingKey(blocks: readonly Block[]): string {
  const [first] = blocks
  if (first === undefined) return 'tls: failed to find any PEM data in key input'
  const spoken = blocks.map(({ type }) => type).join(' ')
  return blocks.length === 1 && first.type === CERTIFICATE
    ? 'tls: found a certificate rather than a key in the PEM for the private key'
    : `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${spoken}]`
}

function checkPair(key: KeyObject, publicKeyInfo: Buffer): void {
  const wanted = importPublicKey(publicKeyInfo)
  if (wanted.asymmetricKeyType !== key.asymmetricKeyType) {
    throw new BuiltinError('tls: private key type does not match public key type')
  }
  if (!createPublicKey(key).equals(wanted))
    throw new BuiltinError('tls: private key does not match public key')
}

const PEM_START = '-----BEGIN'

/** Reads certificates in PEM, base64 of PEM, or base64 of DER. Throws BuiltinError. */
function readCertificates(text: string): ParsedCertificate[] {
  const pem = asPem(text)
  return parseCertificates(pem === undefined ? decodeGoBase64(text, 'standard') : certificateBlocks(pem))
}

/** Returns the text if it is PEM, or its decoded base64 if that is PEM. */
function asPem(text: string): string | undefined {
  if (text.startsWith(PEM_START)) return text
  const decoded = decodeGoBase64(text, 'standard').toString('latin1')
  return decoded.startsWith(PEM_START) ? decoded : undefined
}

function certificateBlocks(pem: string): Buffer {
  const blocks: Buffer[] = []
  for (let block = readPemBlock(pem); block !== undefined; block = readPemBlock(block.rest)) {
    if (block.type !== 'CERTIFICATE') {
      throw new BuiltinError(`PEM block type is '${block.type}', expected CERTIFICATE`)
    }
    blocks.push(block.der)
  }
  return Buffer.concat(blocks)
}

/** Returns the DER of a certificate request: PEM, base64 of PEM, or base64 of DER. */
function readRequest(text: string): Buffer {
  const bytes = text.startsWith('-----BEGIN CERTIFICATE REQUEST-----')
    ? Buffer.from(text)
    : decodeGoBase64(text, 'standard')
  const block = readPemBlock(bytes.toString('latin1'))
  if (block === undefined) return bytes
  if (block.type === 'CERTIFICATE REQUEST') return block.der
  throw new BuiltinError('invalid PEM-encoded certificate signing request')
}
