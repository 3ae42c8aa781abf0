import { createHash } from 'node:crypto'

import { TAG, derElementsIn, derTime } from '../../../lib/der.js'
import type { DerElement } from '../../../lib/der.js'
import type { ClientCertificate, CheckRevocation } from '../../exchange/client-certificate.js'
import type { TlsSettings } from './tls-settings.js'

/** What one authority has revoked (RFC 5280, 5.1). Its signature is checked by OpenSSL when a certificate is shown. */
export interface RevocationList {
  /** Of whom; as certificates name it. */
  readonly issuer: string
  /** Until when it counts, in milliseconds since the epoch; Infinity where it does not say. */
  readonly endsAtMs: number
  /** The numbers of revoked certificates, in hexadecimal digits. */
  readonly serialNumbers: ReadonlySet<string>
}

const PEM = /-----BEGIN X509 CRL-----([A-Za-z0-9+/=\s]+)-----END X509 CRL-----/g
/** The explicit tag 0, which a certificate's version stands in. */
const VERSION = 0xa0
const TIMES: readonly (number | undefined)[] = [TAG.utcTime, TAG.generalizedTime]

/** The lists of a text in PEM. Raises an error where it holds none, or one that cannot be read. */
export function readRevocationLists(text: string): RevocationList[] {
  const lists = [...text.matchAll(PEM)].map(([, base64 = '']) => readList(Buffer.from(base64, 'base64')))
  if (lists.length === 0) throw new Error('it holds no revocation list in PEM')
  return lists
}

/** Whose certificate it is and which, of a certificate in DER; undefined where it cannot be read. */
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

/** Why a certificate does not count by some lists at a time; undefined where it does. One whose authority has no list that counts is refused. */
export function revocationProblem(
  lists: readonly RevocationList[],
  { issuer, serialNumber }: ClientCertificate,
  nowMs: number,
): string | undefined {
  const own = lists.filter((list) => list.issuer === issuer)
  if (own.some(({ serialNumbers }) => serialNumber === undefined || serialNumbers.has(serialNumber)))
    return 'was revoked'
  if (own.length === 0) return 'cannot be taken: its authority has no revocation list'
  return own.some(({ endsAtMs }) => nowMs < endsAtMs)
    ? undefined
    : 'cannot be taken: the revocation list of its authority has ended'
}

function readList(bytes: Buffer): RevocationList {
  const members = signedMembers(bytes)
  const [, issuer, , ...rest] = members[0]?.tag === TAG.integer ? members.slice(1) : members
  if (issuer === undefined) throw new Error('it does not say whose list it is')
  const [next] = rest
  const end = TIMES.includes(next?.tag) ? next : undefined
  const revoked = rest.find(({ tag }) => tag === TAG.sequence)
  return {
    issuer: nameOf(issuer),
    endsAtMs: end === undefined ? Infinity : timeOf(end),
    serialNumbers: new Set(revoked === undefined ? [] : sequenceOf(revoked).map(numberOf)),
  }
}

/** The members of what was signed, of a certificate or a list. */
function signedMembers(bytes: Buffer): DerElement[] {
  const [whole] = elementsIn(bytes)
  const [signed] = sequenceOf(whole)
  return sequenceOf(signed)
}

function sequenceOf(element: DerElement | undefined): DerElement[] {
  if (element?.tag !== TAG.sequence) throw new Error('it holds no sequence where there must be one')
  return elementsIn(element.content)
}

function elementsIn(bytes: Buffer): DerElement[] {
  const elements = derElementsIn(bytes)
  if (elements === undefined) throw new Error('it is no DER, or cut off')
  return elements
}

function timeOf(element: DerElement): number {
  const time = derTime(element)
  if (time === undefined) throw new Error('it holds a time that cannot be read')
  return Date.parse(time)
}

function numberOf(entry: DerElement): string {
  const [number] = sequenceOf(entry)
  if (number?.tag !== TAG.integer) throw new Error('it holds an entry without a number')
  return number.content.toString('hex')
}

/** Names are compared as they are written, which is how an authority writes its own. */
function nameOf({ raw }: DerElement): string {
  return createHash('sha256').update(raw).digest('base64url')
}

/** Checks certificates at every request by the lists that count then: a connection may be older than the list that revokes its certificate. */
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
