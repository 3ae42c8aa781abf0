import { AppError } from '../../errors/app-error.js'
import { parseSubject } from '../../config/values/certificate-subject.js'
import type { SubjectParts } from '../../config/values/certificate-subject.js'
import type { Role } from '../../config/sections/auth.js'
import type { CheckRevocation, ClientCertificate } from '../exchange/client-certificate.js'
import type { Exchange } from '../exchange/exchange.js'

/** Signs of a certificate's names in a message. */
const MOST_SHOWN = 200

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
      throw refused(certificate, `is not trusted (${certificate.problem})`)
    // A connection may well outlast it.
    const nowMs = performance.timeOrigin + exchange.startedAt
    if (!(nowMs < certificate.endsAtMs)) throw refused(certificate, 'has ended')
    const revoked = checkRevocation(certificate, nowMs)
    if (revoked !== undefined) throw refused(certificate, revoked)
    const found = known.find(({ record, subject }) => fits(certificate, record, subject))
    if (found === undefined) throw refused(certificate, 'is none of auth.certificates')
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

function refused({ subject, alternativeNames }: ClientCertificate, problem: string): AppError {
  const parts = Object.entries(subject).flatMap(([type, values]) => values.map((value) => `${type}=${value}`))
  const shown = [...parts, ...alternativeNames].join(', ').slice(0, MOST_SHOWN)
  return new AppError('unauthenticated', `the client certificate ${shown} ${problem}`)
}
