import { createHash, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'

import { trimCharacters } from '../../../lib/text/trim-characters.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import { integerSegment } from '../../values/data-path.js'
import { RegoNumber, RegoSet } from '../../values/value.js'
import type { RegoObject, RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { isArray } from '../shared/operands.js'
import type { ParsedCertificate } from './certificate.js'
import { ANY_USAGE, SERVER_AUTH, usageByName } from './extensions.js'
import { allowsNames } from './name-constraints.js'

export interface ChainOptions {
  /** RFC 3339 in UTC, to the second. */
  readonly time: string
  /** The name or address that the leaf must have; empty for any. */
  readonly dnsName: string
  /** Extended key usages, of which every certificate must permit at least one. */
  readonly usages: readonly string[]
}

const HOST_NAME = /^[\w-]+(?:\.[\w-]+)*\.?$/
const KEY_USAGE_CERT_SIGN = 1 << 5
/** Steps of verifying a signature, and of searching a certificate in the chain. */
const SIGNATURE_STEPS = 20_000
const SIGNATURE_BYTE_STEPS = 20
const CANDIDATE_STEPS = 500
/** Go's limit of signatures, which bounds the work for cross-signed certificates. */
const MAX_SIGNATURE_CHECKS = 100

/**
 * Returns the chain from the last certificate to the trusted first one through the ones between;
 * undefined if none is valid (RFC 5280, 6.1, as in Go's crypto/x509).
 */
export function verifyChain(
  certificates: readonly ParsedCertificate[],
  options: ChainOptions,
  meter: WorkMeter,
): ParsedCertificate[] | undefined {
  const [root, ...others] = certificates
  const leaf = others.pop()
  if (root === undefined || leaf === undefined) return undefined
  if (!isUsable(leaf, options.time) || !carriesName(leaf, options.dnsName)) return undefined
  if (leaf.raw.equals(root.raw)) return allowsUsages([leaf], options.usages) ? [leaf] : undefined
  return new ChainSearch(root, others, options, meter).from([leaf])
}

class ChainSearch {
  readonly #root: ParsedCertificate
  readonly #intermediates: readonly ParsedCertificate[]
  readonly #options: ChainOptions
  readonly #meter: WorkMeter
  #checks = 0

  constructor(
    root: ParsedCertificate,
    intermediates: readonly ParsedCertificate[],
    options: ChainOptions,
    meter: WorkMeter,
  ) {
    this.#meter = meter
    this.#root = root
    this.#intermediates = intermediates
    this.#options = options
  }

  /** Searches depth-first, the root before the intermediates. */
  from(chain: readonly ParsedCertificate[]): ParsedCertificate[] | undefined {
    if (this.#isIssuer(this.#root, chain)) {
      const complete = [...chain, this.#root]
      if (allowsUsages(complete, this.#options.usages)) return complete
    }
    for (const issuer of this.#intermediates) {
      this.#meter.spend(chain.length * CANDIDATE_STEPS)
      if (isInChain(issuer, chain) || !this.#isIssuer(issuer, chain)) continue
      const found = this.from([...chain, issuer])
      if (found !== undefined) return found
    }
    return undefined
  }

  #isIssuer(issuer: ParsedCertificate, chain: readonly ParsedCertificate[]): boolean {
    const child = chain.at(-1)
    if (child === undefined || !issuer.subject.raw.equals(child.issuer.raw)) return false
    if (!isUsable(issuer, this.#options.time) || !mayIssue(issuer, chain, this.#meter)) return false
    this.#meter.spend(SIGNATURE_STEPS + (issuer.raw.length + child.raw.length) * SIGNATURE_BYTE_STEPS)
    return ++this.#checks <= MAX_SIGNATURE_CHECKS && signs(issuer, child)
  }
}

function isUsable(certificate: ParsedCertificate, time: string): boolean {
  const { notBefore, notAfter, fields } = certificate
  return notBefore <= time && time <= notAfter && fields.unhandledCritical.length === 0
}

/** Returns true if the issuer is a CA that may be above this chain and certify its names. */
function mayIssue(issuer: ParsedCertificate, chain: readonly ParsedCertificate[], meter: WorkMeter): boolean {
  const { basic, keyUsage, nameConstraints } = issuer.fields
  if (issuer.version === 3 && basic?.isCa !== true) return false
  if (keyUsage !== 0 && (keyUsage & KEY_USAGE_CERT_SIGN) === 0) return false
  const limit = basic?.maxPathLength ?? -1
  if (limit >= 0 && chain.length - 1 > limit) return false
  return chain.every(
    ({ fields }) => nameConstraints === undefined || allowsNames(nameConstraints, fields.subjectNames, meter),
  )
}

function signs(issuer: ParsedCertificate, child: ParsedCertificate): boolean {
  try {
    return new X509Certificate(child.raw).verify(new X509Certificate(issuer.raw).publicKey)
  } catch {
    return false
  }
}

function isInChain(certificate: ParsedCertificate, chain: readonly ParsedCertificate[]): boolean {
  const print = fingerprint(certificate)
  return chain.some((other) => fingerprint(other) === print)
}

function fingerprint({ raw }: ParsedCertificate): string {
  return createHash('sha256').update(raw).digest('hex')
}

/** The whole chain must permit one usage. Without the extension any is permitted. */
function allowsUsages(chain: readonly ParsedCertificate[], usages: readonly string[]): boolean {
  return usages.some(
    (usage) =>
      usage === ANY_USAGE ||
      chain.every(
        ({ fields: { extendedKeyUsages: allowed } }) =>
          allowed === undefined || allowed.includes(ANY_USAGE) || allowed.includes(usage),
      ),
  )
}

/** As in Go, only alternative names count, and `*` matches one whole label. */
function carriesName(leaf: ParsedCertificate, name: string): boolean {
  if (name === '') return true
  const certificate = new X509Certificate(leaf.raw)
  const address = /^\[(.*)\]$/.exec(name)?.[1] ?? name
  if (isIP(address) !== 0) return certificate.checkIP(address) !== undefined
  // OpenSSL matches subdomains for a leading dot; Go does not.
  if (!HOST_NAME.test(name)) return false
  const rules = { subject: 'never', partialWildcards: false } as const
  return certificate.checkHost(name.replace(/\.$/, ''), rules) !== undefined
}

const NS_PER_MS = 1_000_000n

/** Go's defaults: a server certificate with any name, valid now. */
export function defaultOptions(nowNs: bigint): ChainOptions {
  return { time: toTimeText(nowNs), dnsName: '', usages: [SERVER_AUTH] }
}

/** Reads the options of parse_and_verify_certificates_with_options. */
export function readVerifyOptions(source: RegoObject, nowNs: bigint): ChainOptions {
  let options = defaultOptions(nowNs)
  for (const [name, value] of source.entries) {
    if (typeof name !== 'string') continue
    options = { ...options, ...readOption(name, value) }
  }
  return options
}

function readOption(name: string, value: RegoValue): Partial<ChainOptions> {
  switch (name) {
    case 'DNSName':
      if (typeof value !== 'string') throw new BuiltinError("'DNSName' should be a string")
      return { dnsName: trimCharacters(value, '"') }
    case 'CurrentTime':
      return { time: toTimeText(readInt64(value, name, 'a valid int64 number')) }
    case 'MaxConstraintComparisons':
      readInt64(value, name, 'a valid number')
      return {}
    case 'KeyUsages':
      return readUsages(value)
    default:
      throw new BuiltinError('invalid key option')
  }
}

function readInt64(value: RegoValue, name: string, wanted: string): bigint {
  if (!(value instanceof RegoNumber)) throw new BuiltinError(`'${name}' should be a number`)
  const integer = integerSegment(value.text)
  if (integer === undefined) throw new BuiltinError(`'${name}' should be ${wanted}`)
  return integer
}

function readUsages(value: RegoValue): Partial<ChainOptions> {
  if (!isArray(value) && !(value instanceof RegoSet)) {
    throw new BuiltinError("'KeyUsages' should be an Array or Set")
  }
  const names = (isArray(value) ? value : value.members).filter((name) => typeof name === 'string')
  const spoken = names.map((name) => trimCharacters(name, '"'))
  const invalid = spoken.filter((name) => usageByName(name) === undefined)
  if (invalid.length > 0) {
    throw new BuiltinError(`invalid entries for 'KeyUsages' found: [${invalid.join(' ')}]`)
  }
  const usages = spoken.flatMap((name) => usageByName(name) ?? [])
  return usages.length === 0 ? {} : { usages }
}

/** RFC 3339 in UTC, to the second. */
function toTimeText(timeNs: bigint): string {
  return `${new Date(Number(timeNs / NS_PER_MS)).toISOString().slice(0, 19)}Z`
}
