import type { Socket } from 'node:net'
import type { PeerCertificate, TLSSocket } from 'node:tls'

import type { ClientCertificate } from '../../exchange/client-certificate.js'
import { issuerAndNumber } from './revocation-lists.js'

/** A relay sends it in a header, and all headers of a request have at most 16 KiB. */
const MAX_DER_BYTES = 4096

const known = new WeakMap<Socket, ClientCertificate | 'none'>()

/** Returns the client certificate of a connection, parsed once; undefined if there is none. */
export function certificateOf(socket: Socket): ClientCertificate | undefined {
  if (!isEncrypted(socket)) return undefined
  const certificate = known.get(socket) ?? read(socket)
  known.set(socket, certificate)
  return certificate === 'none' ? undefined : certificate
}

/** Returns whether a connection uses TLS. */
export function isEncrypted(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket
}

function read(socket: TLSSocket): ClientCertificate | 'none' {
  // An empty object if there is no certificate.
  const peer: Partial<PeerCertificate> = socket.getPeerCertificate()
  if (peer.subject === undefined) return 'none'
  return {
    problem: socket.authorized ? undefined : String(socket.authorizationError),
    subject: subjectOf(peer.subject),
    alternativeNames: alternativeNames(peer.subjectaltname ?? ''),
    ...(peer.raw && issuerAndNumber(peer.raw)),
    ...(peer.raw !== undefined && peer.raw.length <= MAX_DER_BYTES && { der: peer.raw.toString('base64') }),
    endsAtMs: Date.parse(peer.valid_to ?? ''),
  }
}

/** Repeated types have a list of values. */
function subjectOf(subject: PeerCertificate['subject']): ClientCertificate['subject'] {
  const parts: [string, string | string[] | undefined][] = Object.entries(subject)
  return Object.fromEntries(parts.map(([type, values = []]) => [type, [values].flat()]))
}

/**
 * `DNS:a.example.org`, `URI:"a, b"`: ambiguous values are quoted as JSON (Node.js, X509Certificate,
 * subjectAltName).
 */
const NAME = /(?<type>[A-Za-z][A-Za-z ]*):(?:(?<quoted>"(?:[^"\\]|\\.)*")|(?<plain>[^,"]*))(?:, |$)/y

/** Parses node's text of alternative names; empty if any of them is malformed. */
export function alternativeNames(text: string): string[] {
  const names: string[] = []
  NAME.lastIndex = 0
  while (NAME.lastIndex < text.length) {
    const { type, quoted, plain } = NAME.exec(text)?.groups ?? {}
    const value = quoted === undefined ? plain : parseQuoted(quoted)
    if (type === undefined || value === undefined) return []
    names.push(`${type === 'IP Address' ? 'IP' : type}:${value}`)
  }
  return names
}

function parseQuoted(text: string): string | undefined {
  try {
    return String(JSON.parse(text))
  } catch {
    return undefined
  }
}
