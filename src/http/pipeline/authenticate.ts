import { createHash, timingSafeEqual } from 'node:crypto'

import { AppError } from '../../errors/app-error.js'
import type { Role } from '../../config/sections/auth.js'
import type { CheckRevocation, ClientCertificate } from '../exchange/client-certificate.js'
import type { Caller, Exchange } from '../exchange/exchange.js'
import { parseSubject } from '../../config/values/certificate-subject.js'
import type { SubjectParts } from '../../config/values/certificate-subject.js'

/** A configured token: who has it, what they may do, and the SHA-256 of the token itself. */
export interface TokenRecord {
  readonly name: string
  readonly roles: readonly Role[]
  /** 64 hex digits. */
  readonly sha256: string
}

/** Checks that a request may do what only `roles` may; an admin may do everything. Sets the exchange's caller. */
export type Authenticate = (exchange: Exchange, roles: readonly Role[]) => void

/** The same for people in browsers, whose session may be kept elsewhere. */
export type AuthenticatePage = (exchange: Exchange, roles: readonly Role[]) => Promise<void>

/** Who shows a credential of the configuration, and what they may do. */
type Bearer = TokenRecord | CertificateRecord

interface KnownToken extends TokenRecord {
  readonly digest: Buffer
}

/** Who calls where nobody is asked who they are. */
const ANYONE: Caller = { tokenName: undefined, isAdmin: true }

const BEARER = /^Bearer +(?<token>\S+)\s*$/i

export interface AuthenticationRules {
  readonly tokens: readonly TokenRecord[]
  /** Client certificates that stand for a token. */
  readonly certificates?: readonly CertificateRecord[]
  readonly checkRevocation?: CheckRevocation
  /** Whether a request without a token may do what the orchestrator may. */
  readonly openToOrchestrator: boolean
}

/**
 * Authentication by bearer tokens, and by client certificates where no token is sent. With neither configured everyone may do everything (the service then listens on
 * loopback only, or was told to be insecure). Raises `unauthenticated` without one that is known, `forbidden` without the role.
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
    // A token or certificate that is wrong is an error, not the same as none.
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

/** Finds a token by what is presented. Digests of one length are compared with all, so that the time taken tells nothing about any of them. */
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

/** Who calls with a token or a certificate. */
export function bearerOf({ name, roles }: Bearer): Caller {
  return { tokenName: name, isAdmin: roles.includes('admin'), roles }
}

/** Raises `forbidden` for a bearer without any of some roles; an admin has all. */
export function requireRole(bearer: Bearer, roles: readonly Role[]): void {
  if (!bearer.roles.some((role) => role === 'admin' || roles.includes(role))) throw forbidden(bearer, roles)
}

function unauthenticated(wasPresented: boolean, takesCertificates: boolean): AppError {
  const problem = wasPresented ? 'the bearer token is not known' : 'a bearer token is needed'
  const otherwise = takesCertificates ? ', or show a client certificate of auth.certificates' : ''
  return new AppError(
    'unauthenticated',
    `${problem}: send Authorization: Bearer TOKEN with a token of auth.tokens${otherwise}`,
  )
}

function forbidden(bearer: Bearer, roles: readonly Role[]): AppError {
  const kind = 'sha256' in bearer ? 'token' : 'certificate'
  return new AppError(
    'forbidden',
    `the ${kind} ${bearer.name} may not do this: it needs the role ${roles.join(' or ') || 'admin'}`,
  )
}

/** Signs of a certificate's names in a message. */
const MAX_SHOWN_CHARACTERS = 200

/** A certificate of the configuration: who has it, what they may do, and what it says. */
export interface CertificateRecord {
  readonly name: string
  readonly roles: readonly Role[]
  /** `CN=echo, O=Example`: the whole subject, in any order. */
  readonly subject?: string | undefined
  /** `DNS:echo.example.org`: one of the alternative names. */
  readonly san?: string | undefined
}

/** The record of the certificate that a caller showed; undefined where there is none. Raises `unauthenticated` for one that is wrong. */
export type FindCertificate = (exchange: Exchange) => CertificateRecord | undefined

/** Finds certificates among those of the configuration: the first that fits counts. */
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
    // A connection may well outlast it.
    const nowMs = performance.timeOrigin + exchange.startedAt
    if (!(nowMs < certificate.endsAtMs)) throw refusedCertificate(certificate, 'has ended')
    const revoked = checkRevocation(certificate, nowMs)
    if (revoked !== undefined) throw refusedCertificate(certificate, revoked)
    const found = known.find(({ record, subject }) => fits(certificate, record, subject))
    if (found === undefined) throw refusedCertificate(certificate, 'is none of auth.certificates')
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

/** A part that is not wanted counts too: authorities differ in which parts they check. */
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
  return new AppError('unauthenticated', `the client certificate ${shown} ${problem}`)
}
