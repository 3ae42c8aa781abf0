import { createHash, timingSafeEqual } from 'node:crypto'

import { AppError } from '../../errors/app-error.js'
import type { Role } from '../../config/sections/roles.js'
import type { CheckRevocation, ClientCertificate } from '../exchange/client-certificate.js'
import type { Caller, Exchange } from '../exchange/exchange.js'
import { parseSubject } from '../../config/values/certificate-subject.js'
import type { SubjectParts } from '../../config/values/certificate-subject.js'

/** Somebody or something with roles. */
export interface Principal {
  readonly name: string
  readonly roles: readonly Role[]
  /** For the approvers of gates. */
  readonly groups?: readonly string[]
  /** Set for an account of an identity provider. */
  readonly account?: Caller['account']
}

/** A configured token. */
export interface TokenRecord extends Principal {
  /** SHA-256 of the token, 64 hex digits. */
  readonly sha256: string
}

/**
 * Requires one of `roles`, or admin, and sets the exchange's caller. Raises `unauthenticated` and
 * `forbidden`.
 */
export type Authenticate = (exchange: Exchange, roles: readonly Role[]) => Promise<void>

/**
 * Returns who sends a request through a proxy that authenticates people, or with a token of the
 * identity provider. Undefined if the request shows neither. Raises `unauthenticated`, `forbidden`
 * and `unavailable`.
 */
export type FindPerson = (exchange: Exchange) => Promise<Principal | undefined>

interface KnownToken extends TokenRecord {
  readonly digest: Buffer
}

/** The caller if no credentials are configured. */
const ANYONE: Caller = { tokenName: undefined, isAdmin: true }

/** The value of `Authorization` with a token. */
export const BEARER = /^Bearer +(?<token>\S+)\s*$/i

export interface AuthenticationRules {
  readonly tokens: readonly TokenRecord[]
  /** Client certificates that replace a token. */
  readonly certificates?: readonly CertificateRecord[]
  readonly checkRevocation?: CheckRevocation
  /** True if requests without a token have the role `orchestrator`. */
  readonly openToOrchestrator: boolean
  /** Undefined if people have no accounts elsewhere. */
  readonly findPerson?: FindPerson | undefined
}

/**
 * Creates authentication by bearer token, or by client certificate if no token is sent. If neither
 * is configured, everything is allowed; the service then listens on loopback only, unless
 * `server.insecure` is set. The result raises `unauthenticated` for a missing or unknown credential
 * and `forbidden` for a missing role.
 */
export function makeAuthenticate(rules: AuthenticationRules): Authenticate {
  const { tokens, certificates = [], checkRevocation, openToOrchestrator, findPerson } = rules
  const findToken = makeFindToken(tokens)
  const findCertificate = makeFindCertificate(certificates, checkRevocation)
  if (tokens.length + certificates.length === 0 && findPerson === undefined) {
    return (exchange) => {
      exchange.caller = ANYONE
      return Promise.resolve()
    }
  }
  return async (exchange, roles) => {
    const authorization = exchange.header('authorization')
    // A wrong token or certificate is an error, unlike a missing one.
    const certificate = authorization === undefined ? findCertificate(exchange) : undefined
    const presented = BEARER.exec(authorization ?? '')?.groups?.['token']
    const known = certificate ?? (presented === undefined ? undefined : findToken(presented))
    const principal = known ?? (await findPerson?.(exchange))
    if (principal === undefined) {
      const isOpen = openToOrchestrator && roles.includes('orchestrator')
      if (authorization === undefined && isOpen) return
      throw unauthenticated(presented !== undefined, certificates.length > 0)
    }
    requireRole(principal, roles)
    exchange.caller = callerFor(principal)
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

/** Returns the caller for a token, a certificate or a person. */
export function callerFor({ name, roles, groups = [], account }: Principal): Caller {
  return { tokenName: name, isAdmin: roles.includes('admin'), roles, groups, account }
}

/** Raises `forbidden` unless the principal has one of the roles or is an admin. */
export function requireRole(principal: Principal, roles: readonly Role[]): void {
  const isAllowed = principal.roles.some((role) => role === 'admin' || roles.includes(role))
  if (!isAllowed) throw forbidden(principal, roles)
}

function unauthenticated(wasPresented: boolean, takesCertificates: boolean): AppError {
  const problem = wasPresented ? 'unknown bearer token' : 'missing bearer token'
  const otherwise = takesCertificates ? ', or present a client certificate of auth.certificates' : ''
  return new AppError(
    'unauthenticated',
    `${problem}: send Authorization: Bearer TOKEN with a token of auth.tokens${otherwise}`,
  )
}

function forbidden(principal: Principal, roles: readonly Role[]): AppError {
  const kind =
    'sha256' in principal ? 'token ' : 'subject' in principal || 'san' in principal ? 'certificate ' : ''
  return new AppError(
    'forbidden',
    `${kind}${principal.name} requires the role ${roles.join(' or ') || 'admin'} for this`,
  )
}

/** Maximum characters of a certificate's names in an error. */
const MAX_SHOWN_CHARACTERS = 200

/** A configured client certificate. */
export interface CertificateRecord extends Principal {
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
function makeFindCertificate(
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
