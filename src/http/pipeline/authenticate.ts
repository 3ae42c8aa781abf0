import { createHash, timingSafeEqual } from 'node:crypto'

import { AppError } from '../../errors/app-error.js'
import type { Role } from '../../config/sections/auth.js'
import type { CheckRevocation, ClientCertificate } from '../exchange/client-certificate.js'
import type { Caller, Exchange } from '../exchange/exchange.js'
import { parseSubject } from '../../config/values/certificate-subject.js'
import type { SubjectParts } from '../../config/values/certificate-subject.js'

/** A configured token. */
export interface TokenRecord {
  readonly name: string
  readonly roles: readonly Role[]
  /** SHA-256 of the token, 64 hex digits. */
  readonly sha256: string
}

/**
 * Requires one of `roles`, or admin, and sets the exchange's caller. Raises `unauthenticated` and
 * `forbidden`.
 */
export type Authenticate = (exchange: Exchange, roles: readonly Role[]) => void

/** Authenticates the viewer of a page. Asynchronous, since sessions may be in a database. */
export type AuthenticatePage = (exchange: Exchange, roles: readonly Role[]) => Promise<void>

/** The record of a configured token or certificate. */
type Bearer = TokenRecord | CertificateRecord

interface KnownToken extends TokenRecord {
  readonly digest: Buffer
}

/** The caller if no credentials are configured. */
const ANYONE: Caller = { tokenName: undefined, isAdmin: true }

const BEARER = /^Bearer +(?<token>\S+)\s*$/i

export interface AuthenticationRules {
  readonly tokens: readonly TokenRecord[]
  /** Client certificates that replace a token. */
  readonly certificates?: readonly CertificateRecord[]
  readonly checkRevocation?: CheckRevocation
  /** True if requests without a token have the role `orchestrator`. */
  readonly openToOrchestrator: boolean
}

/**
 * Creates authentication by bearer token, or by client certificate if no token is sent. If neither
 * is configured, everything is allowed; the service then listens on loopback only, unless
 * `server.insecure` is set. The result raises `unauthenticated` for a missing or unknown credential
 * and `forbidden` for a missing role.
 */
export function makeAuthenticate(rules: AuthenticationRules): Authenticate {
  const { tokens, certificates = [], checkRevocation, openToOrchestrator } = rules
  const findToken = makeFindToken(tokens)
  const findCertificate = makeFindCertificate(certificates, checkRevocation)
  if (tokens.length + certificates.length === 0) {
    return (exchange) => {
      exchange.caller = ANYONE
    }
  }
  return (exchange, roles) => {
    const authorization = exchange.header('authorization')
    // A wrong token or certificate is an error, unlike a missing one.
    const certificate = authorization === undefined ? findCertificate(exchange) : undefined
    if (certificate === undefined && authorization === undefined) {
      if (openToOrchestrator && roles.includes('orchestrator')) return
    }
    const presented = BEARER.exec(authorization ?? '')?.groups?.['token']
    const bearer = certificate ?? (presented === undefined ? undefined : findToken(presented))
    if (bearer === undefined) throw unauthenticated(presented !== undefined, certificates.length > 0)
    requireRole(bearer, roles)
    exchange.caller = bearerOf(bearer)
  }
}

/**
 * Creates the lookup of tokens. It compares digests in constant time and does not stop at a match,
 * so its duration reveals nothing.
 */
export function makeFindToken(
  tokens: readonly TokenRecord[],
): (presented: string) => TokenRecord | undefined {
  const known: readonly KnownToken[] = tokens.map((token) => ({
    ...token,
    digest: Buffer.from(token.sha256, 'hex'),
  }))
  return (presented) => {
    const digest = createHash('sha256').update(presented).digest()
    let found: KnownToken | undefined
    for (const token of known) if (timingSafeEqual(token.digest, digest)) found = token
    return found
  }
}

/** Returns the caller for a token or certificate. */
export function bearerOf({ name, roles }: Bearer): Caller {
  return { tokenName: name, isAdmin: roles.includes('admin'), roles }
}

/** Raises `forbidden` unless the bearer has one of the roles or is an admin. */
export function requireRole(bearer: Bearer, roles: readonly Role[]): void {
  if (!bearer.roles.some((role) => role === 'admin' || roles.includes(role))) throw forbidden(bearer, roles)
}

function unauthenticated(wasPresented: boolean, takesCertificates: boolean): AppError {
  const problem = wasPresented ? 'unknown bearer token' : 'missing bearer token'
  const otherwise = takesCertificates ? ', or present a client certificate of auth.certificates' : ''
  return new AppError(
    'unauthenticated',
    `${problem}: send Authorization: Bearer TOKEN with a token of auth.tokens${otherwise}`,
  )
}

function forbidden(bearer: Bearer, roles: readonly Role[]): AppError {
  const kind = 'sha256' in bearer ? 'token' : 'certificate'
  return new AppError(
    'forbidden',
    `${kind} ${bearer.name} requires the role ${roles.join(' or ') || 'admin'} for this`,
  )
}

/** Maximum characters of a certificate's names in an error. */
const MAX_SHOWN_CHARACTERS = 200

/** A configured client certificate. */
export interface CertificateRecord {
  readonly name: string
  readonly roles: readonly Role[]
  /** The whole subject in any order, such as `CN=echo, O=Example`. */
  readonly subject?: string | undefined
  /** A subject alternative name, such as `DNS:echo.example.org`. */
  readonly san?: string | undefined
}

/**
 * Returns the record for the client certificate; undefined if there is none. Raises
 * `unauthenticated` for an untrusted, expired, revoked or unknown certificate.
 */
export type FindCertificate = (exchange: Exchange) => CertificateRecord | undefined

/** Creates the lookup of certificates. The first matching record counts. */
export function makeFindCertificate(
  records: readonly CertificateRecord[],
  checkRevocation: CheckRevocation = () => undefined,
): FindCertificate {
  if (records.length === 0) return () => undefined
  const known = records.map((record) => ({
    record,
    subject: record.subject === undefined ? undefined : parseSubject(record.subject),
  }))
  return (exchange) => {
    const certificate = exchange.clientCertificate
    if (certificate === undefined) return undefined
    if (certificate.problem !== undefined)
      throw refusedCertificate(certificate, `is not trusted (${certificate.problem})`)
    // A connection can outlive its certificate.
    const nowMs = performance.timeOrigin + exchange.startedAt
    if (!(nowMs < certificate.endsAtMs)) throw refusedCertificate(certificate, 'has expired')
    const revoked = checkRevocation(certificate, nowMs)
    if (revoked !== undefined) throw refusedCertificate(certificate, revoked)
    const found = known.find(({ record, subject }) => fits(certificate, record, subject))
    if (found === undefined) throw refusedCertificate(certificate, 'is not listed in auth.certificates')
    return found.record
  }
}

function fits(
  { subject, alternativeNames }: ClientCertificate,
  record: CertificateRecord,
  wanted: SubjectParts | undefined,
): boolean {
  if (record.san !== undefined && !alternativeNames.includes(record.san)) return false
  if (record.subject === undefined) return record.san !== undefined
  if (wanted === undefined) return false
  return isWholeSubject(subject, wanted)
}

/** Unexpected parts of the subject count, too: CAs differ in which parts they verify. */
function isWholeSubject(subject: ClientCertificate['subject'], wanted: SubjectParts): boolean {
  const actual = Object.entries(subject)
  if (actual.length !== wanted.size) return false
  return actual.every(([type, values]) => hasSameValues(values, wanted.get(type) ?? []))
}

function hasSameValues(some: readonly string[], others: readonly string[]): boolean {
  const sorted = others.toSorted()
  return some.length === sorted.length && some.toSorted().every((value, index) => value === sorted[index])
}

function refusedCertificate({ subject, alternativeNames }: ClientCertificate, problem: string): AppError {
  const parts = Object.entries(subject).flatMap(([type, values]) => values.map((value) => `${type}=${value}`))
  const shown = [...parts, ...alternativeNames].join(', ').slice(0, MAX_SHOWN_CHARACTERS)
  return new AppError('unauthenticated', `client certificate ${shown} ${problem}`)
}
