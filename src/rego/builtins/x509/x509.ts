import type { WorkMeter } from '../../metering/work-meter.js'
import type { RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import type { BuiltinContext, BuiltinTable } from '../shared/builtin.js'
import { decodeGoBase64 } from '../encoding/go-base64.js'
import { objectOperand, stringOperand, wrongType } from '../shared/operands.js'
import { goCertificateRequest } from './certificate-request.js'
import type { ParsedCertificate } from './certificate.js'
import { goCertificate, withoutUriStrings } from './go-certificate.js'
import { goKeyPair } from './key-pair.js'
import { goPrivateKey, jwkOfPrivateKey } from './keys.js'
import { readPrivateKeys } from './private-keys.js'
import { readCertificates, readRequest } from './read-input.js'
import { verifyChain } from './verify-chain.js'
import type { ChainOptions } from './verify-chain.js'
import { defaultOptions, readVerifyOptions } from './verify-options.js'

type Args = readonly RegoValue[]

/** Steps of making a private key out of its numbers. */
const KEY_STEPS = 30_000

/** X.509 certificates, requests and private keys, in the JSON forms of Go's crypto packages. */
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

/** `[true, chain]` from the last certificate up to the first, which is trusted; `[false, []]` when there is none. */
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

/** Undefined for what are none; of an empty text there are no certificates. */
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

/** The JWK of the first private key, or null when there is none. */
function parseRsaPrivateKey(args: Args, { meter }: BuiltinContext): RegoValue {
  meter.spend(KEY_STEPS)
  const text = stringOperand(args, 0)
  if (text === '') throw new BuiltinError('input PEM data was empty')
  const pem = text.startsWith('-----BEGIN') ? text : decodeGoBase64(text, 'standard').toString('latin1')
  const [key] = readPrivateKeys(decodeOrKeep(pem))
  return key === undefined ? null : jwkOfPrivateKey(key)
}
