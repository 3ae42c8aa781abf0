import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { PeerCertificate, TLSSocket } from 'node:tls'
import type { AppError } from '../../../errors/app-error.js'
import { freeBytes } from '../../../lib/bytes.js'
import { CollectedBytes } from '../../../lib/collected-bytes.js'
import { bodyIncomplete, bodyTooLarge, tooManyPartialBodies } from '../../exchange/body-errors.js'
import type { ClientCertificate } from '../../exchange/client-certificate.js'
import { Exchange, JSON_TYPE } from '../../exchange/exchange.js'
import type { BodyReceiver } from '../partial-bodies.js'
import { issuerAndNumber } from '../tls/revocation-lists.js'
import type { TransportLimits } from '../transport-limits.js'

export interface StandardExchangeOptions {
  readonly limits: TransportLimits
  /** Returns the client address of a relayed request. */
  readonly remoteAddressOf?: ((request: IncomingMessage) => string | undefined) | undefined
  /** Returns the client certificate of a relayed request. */
  readonly certificateOf?: ((request: IncomingMessage) => ClientCertificate | undefined) | undefined
  /** Returns whether a relayed request came over TLS. */
  readonly isTlsOf?: ((request: IncomingMessage) => boolean) | undefined
  /** True if the client sends the body on request (`Expect: 100-continue`; RFC 9110, 10.1.1). */
  readonly awaitsContinue?: boolean
}

/** An exchange on node's own HTTP server. */
export class StandardExchange extends Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** True if the client sends the body after `requestBody`, or some time later anyway. */
  readonly awaitsContinue: boolean
  readonly #limits: TransportLimits
  readonly #remoteAddressOf: StandardExchangeOptions['remoteAddressOf']
  readonly #certificateOf: StandardExchangeOptions['certificateOf']
  readonly #isTlsOf: StandardExchangeOptions['isTlsOf']
  #goneListener: (() => void) | undefined
  #isClaimed = false
  #body: Buffer | undefined

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
    options: StandardExchangeOptions,
  ) {
    super(request.method ?? 'GET', request.url ?? '/', requestId)
    const { limits, remoteAddressOf, certificateOf: relayed, isTlsOf } = options
    this.awaitsContinue = options.awaitsContinue === true
    this.request = request
    this.response = response
    this.#limits = limits
    this.#remoteAddressOf = remoteAddressOf
    this.#certificateOf = relayed
    this.#isTlsOf = isTlsOf
  }

  get status(): number {
    return this.response.statusCode
  }

  get remoteAddress(): string | undefined {
    return this.#remoteAddressOf?.(this.request) ?? this.request.socket.remoteAddress
  }

  override get clientCertificate(): ClientCertificate | undefined {
    return this.#certificateOf?.(this.request) ?? certificateOf(this.request.socket)
  }

  get isTls(): boolean {
    return this.#isTlsOf?.(this.request) ?? isEncrypted(this.request.socket)
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  get rawHeaders(): readonly string[] {
    return this.request.rawHeaders
  }

  async takeTurn(bytes: number): Promise<void> {
    await this.#limits.requests.takeTurn(bytes)
    this.#requireConnected()
  }

  makePage<T>(make: () => Promise<T>): Promise<T> {
    const inTurn = async (): Promise<T> => {
      await this.takeTurn(0)
      return make()
    }
    return this.#limits.pages.make(inTurn, (leave) => this.whenGone(leave))
  }

  /** While a request waits, its client may disconnect or the service may stop. */
  #requireConnected(): void {
    if (this.response.headersSent || this.response.destroyed) throw this.failure ?? bodyIncomplete()
  }

  readBytes(limit: number): Promise<Buffer> {
    const { request } = this
    if (this.#body !== undefined)
      return this.#body.length > limit ? Promise.reject(bodyTooLarge(limit)) : Promise.resolve(this.#body)
    const { partialBodies } = this.#limits
    if (Number(this.header('content-length') ?? 0) > limit) return Promise.reject(bodyTooLarge(limit))
    this.requestBody()
    return new Promise((resolve, reject) => {
      const body = new CollectedBytes()
      const refuse = (error: AppError): void => {
        // Discarding the rest without a limit would let a client occupy the connection forever.
        request.removeAllListeners('data').off('end', whole).resume()
        body.clear()
        partialBodies.release(receiver)
        reject(error)
      }
      const receiver: BodyReceiver = { giveUp: () => refuse(tooManyPartialBodies()) }
      const whole = (): void => {
        partialBodies.release(receiver)
        // Drop the buffer's references: the request object lives until the response is done.
        const bytes = body.take()
        this.#body = bytes
        resolve(this.takeTurn(bytes.length).then(() => bytes))
      }
      request.on('data', (chunk: Buffer) => {
        if (body.length + chunk.length > limit) {
          refuse(bodyTooLarge(limit))
          return
        }
        body.add(chunk)
        partialBodies.hold(receiver, chunk.length)
      })
      request.on('end', whole)
      // Also emitted if the client disconnects.
      request.on('error', (cause) => {
        partialBodies.release(receiver)
        reject(bodyIncomplete(cause))
      })
    })
  }

  override freeBody(): void {
    if (this.#body !== undefined) freeBytes(this.#body)
    this.#body = undefined
  }

  /**
   * Sends 100 Continue to a waiting client. If it is never called, node closes the connection after
   * the response.
   */
  requestBody(): void {
    if (this.awaitsContinue && !this.response.headersSent) this.response.writeContinue()
  }

  whenGone(listener: () => void): void {
    const isFirst = this.#goneListener === undefined
    this.#goneListener = listener
    if (!isFirst) return
    this.response.once('close', () => {
      if (!this.response.headersSent) this.#goneListener?.()
    })
  }

  protected cut(): void {
    this.response.destroy()
  }

  /** Node writes a flat header list fastest. */
  send(...[status, body, contentType = JSON_TYPE, extraHeaders = []]: Parameters<Exchange['send']>): void {
    const { response } = this
    if (response.headersSent || this.#isClaimed) return
    if (response.destroyed) {
      // The client is gone, but the status is logged and counted.
      response.statusCode = status
      return
    }
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    response.writeHead(status, [
      'Content-Type',
      contentType,
      'Content-Length',
      String(length),
      'X-Request-Id',
      this.requestId,
      ...extraHeaders,
    ])
    this.#holdUnread(length)
    response.end(this.method === 'HEAD' ? undefined : body)
  }

  /**
   * Reserves the response for another writer; `send` does nothing from now on. Returns false if a
   * response was sent already.
   */
  claimResponse(): boolean {
    if (this.response.headersSent) return false
    this.#isClaimed = true
    return true
  }

  /** Counts the unsent bytes of a response that another writer produced. */
  written(): void {
    if (!this.response.writableFinished) this.#holdUnread(this.response.writableLength)
  }

  #holdUnread(bytes: number): void {
    const isRead = this.#limits.unreadAnswers.hold(this.request.socket, bytes)
    if (isRead !== undefined) this.response.once('close', isRead)
  }
}

/** A relay sends it in a header, and all headers of a request have at most 16 KiB. */
const MAX_DER_BYTES = 4096

const known = new WeakMap<Socket, ClientCertificate | 'none'>()

/** Returns the client certificate of a connection, parsed once; undefined if there is none. */
function certificateOf(socket: Socket): ClientCertificate | undefined {
  if (!isEncrypted(socket)) return undefined
  const certificate = known.get(socket) ?? read(socket)
  known.set(socket, certificate)
  return certificate === 'none' ? undefined : certificate
}

/** Returns whether a connection uses TLS. */
function isEncrypted(socket: Socket): socket is TLSSocket {
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
