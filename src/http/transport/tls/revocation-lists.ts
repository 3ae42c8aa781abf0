import { createHash } from 'node:crypto'

import { TAG, derElementsIn, derTime } from '../../../lib/der.js'
import type { DerElement } from '../../../lib/der.js'
import type { ClientCertificate, CheckRevocation } from '../../exchange/client-certificate.js'
import type { TlsSettings } from './tls-settings.js'

/**
 * Revocation list of one CA (RFC 5280, 5.1). OpenSSL verifies its signature during the handshake.
 */
export interface RevocationList {
  /** SHA-256 of the issuer's name. */
  readonly issuer: string
  /** Expiry, in epoch milliseconds; Infinity if it has none. */
  readonly endsAtMs: number
  /** Serial numbers in hexadecimal. */
  readonly serialNumbers: ReadonlySet<string>
}

const PEM = /-----BEGIN X509 CRL-----([A-Za-z0-9+/=\s]+)-----END X509 CRL-----/g
/** Explicit tag 0, which contains the version of a certificate. */
const VERSION = 0xa0
const TIMES: readonly (number | undefined)[] = [TAG.utcTime, TAG.generalizedTime]

/** Parses the lists in a PEM text. Throws if there is none or one is malformed. */
export function readRevocationLists(text: string): RevocationList[] {
  const lists = [...text.matchAll(PEM)].map(([, base64 = '']) => readList(Buffer.from(base64, 'base64')))
  if (lists.length === 0) throw new Error('it contains no revocation list in PEM')
  return lists
}

/** Returns issuer and serial number of a DER certificate; undefined if it is malformed. */
export function issuerAndNumber(
  certificate: Buffer,
): Pick<ClientCertificate, 'issuer' | 'serialNumber'> | undefined {
  try {
    const members = signedMembers(certificate)
    const [number, , issuer] = members[0]?.tag === VERSION ? members.slice(1) : members
    if (number?.tag !== TAG.integer || issuer === undefined) return undefined
    return { issuer: nameOf(issuer), serialNumber: number.content.toString('hex') }
  } catch {
    return undefined
  }
}

/**
 * Returns why a certificate is rejected at a time; undefined if it is valid. A certificate without
 * a current list of its CA is rejected.
 */
export function revocationProblem(
  lists: readonly RevocationList[],
  { issuer, serialNumber }: ClientCertificate,
  nowMs: number,
): string | undefined {
  const own = lists.filter((list) => list.issuer === issuer)
  if (own.some(({ serialNumbers }) => serialNumber === undefined || serialNumbers.has(serialNumber)))
    return 'was revoked'
  if (own.length === 0) return 'is rejected: its CA has no revocation list'
  return own.some(({ endsAtMs }) => nowMs < endsAtMs)
    ? undefined
    : 'is rejected: the revocation list of its CA has expired'
}

function readList(bytes: Buffer): RevocationList {
  const members = signedMembers(bytes)
  const [, issuer, , ...rest] = members[0]?.tag === TAG.integer ? members.slice(1) : members
  if (issuer === undefined) throw new Error('it has no issuer')
  const [next] = rest
  const end = TIMES.includes(next?.tag) ? next : undefined
  const revoked = rest.find(({ tag }) => tag === TAG.sequence)
  return {
    issuer: nameOf(issuer),
    endsAtMs: end === undefined ? Infinity : timeOf(end),
    serialNumbers: new Set(revoked === undefined ? [] : sequenceOf(revoked).map(numberOf)),
  }
}

/** Returns the signed members of a certificate or list. */
function signedMembers(bytes: Buffer): DerElement[] {
  const [whole] = elementsIn(bytes)
  const [signed] = sequenceOf(whole)
  return sequenceOf(signed)
}

function sequenceOf(element: DerElement | undefined): DerElement[] {
  if (element?.tag !== TAG.sequence) throw new Error('it lacks a sequence')
  return elementsIn(element.content)
}

function elementsIn(bytes: Buffer): DerElement[] {
  const elements = derElementsIn(bytes)
  if (elements === undefined) throw new Error('it is not DER, or truncated')
  return elements
}

function timeOf(element: DerElement): number {
  const time = derTime(element)
  if (time === undefined) throw new Error('it contains a malformed time')
  return Date.parse(time)
}

function numberOf(entry: DerElement): string {
  const [number] = sequenceOf(entry)
  if (number?.tag !== TAG.integer) throw new Error('it contains an entry without a serial number')
  return number.content.toString('hex')
}

/** Names are compared byte by byte, since a CA always writes its own name the same way. */
function nameOf({ raw }: DerElement): string {
  return createHash('sha256').update(raw).digest('base64url')
}

/**
 * Creates the check of certificates by the current lists. It runs for every request, since a
 * connection can be older than a list.
 */
export function makeCheckRevocation(settingsOf: () => TlsSettings | undefined): CheckRevocation {
  let text: string | undefined
  let lists: readonly RevocationList[] = []
  return (certificate, nowMs) => {
    const clientCrl = settingsOf()?.clientCrl
    if (clientCrl === undefined) return undefined
    if (clientCrl !== text) {
      lists = readRevocationLists(clientCrl)
      text = clientCrl
    }
    return revocationProblem(lists, certificate, nowMs)
  }
}
