import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AppError } from '../../../errors/app-error.js'

import { bodyIncomplete, bodyTooLarge, tooManyPartialBodies } from '../../exchange/body-errors.js'
import { freeBytes } from '../../../lib/bytes.js'
import { CollectedBytes } from '../../../lib/collected-bytes.js'
import type { ClientCertificate } from '../../exchange/client-certificate.js'
import { Exchange, JSON_TYPE } from '../../exchange/exchange.js'
import type { BodyReceiver } from '../partial-bodies.js'
import { certificateOf, isEncrypted } from '../tls/certificate-of.js'
import type { TransportLimits } from '../transport-limits.js'

export interface StandardExchangeOptions {
  readonly limits: TransportLimits
  /** Where a request came from that another process passed on. */
  readonly remoteAddressOf?: ((request: IncomingMessage) => string | undefined) | undefined
  /** The certificate of a caller whose request another process passed on. */
  readonly certificateOf?: ((request: IncomingMessage) => ClientCertificate | undefined) | undefined
  /** Whether a request that another process passed on came over TLS. */
  readonly isTlsOf?: ((request: IncomingMessage) => boolean) | undefined
  /** Whether the caller sends the body when it is asked for (`Expect: 100-continue`; RFC 9110, 10.1.1). */
  readonly awaitsContinue?: boolean
}

/** An exchange over the request and response of node's own HTTP server. */
export class StandardExchange extends Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Whether the caller sends the body when `requestBody` is called, or a little later by itself. */
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
    const { limits: room, remoteAddressOf, certificateOf: relayed, isTlsOf } = options
    this.awaitsContinue = options.awaitsContinue === true
    this.request = request
    this.response = response
    this.#limits = room
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

  async takeTurn(bytes: number): Promise<void> {
    const turn = this.#limits.requests.takeTurn(bytes)
    if (turn === undefined) return
    await turn
    this.#requireConnected()
  }

  makePage<T>(make: () => Promise<T>): Promise<T> {
    const inTurn = async (): Promise<T> => {
      await this.takeTurn(0)
      this.#requireConnected()
      return make()
    }
    return this.#limits.pages.make(inTurn, (leave) => this.whenGone(leave))
  }

  /** While it waits its caller may go, or the service may begin to end. */
  #requireConnected(): void {
    if (this.response.headersSent || this.response.destroyed) throw this.failure ?? bodyIncomplete()
  }

  readBytes(limit: number): Promise<Buffer> {
    const { request } = this
    const { partialBodies: halfBodies } = this.#limits
    if (Number(this.header('content-length') ?? 0) > limit) return Promise.reject(bodyTooLarge(limit))
    this.requestBody()
    return new Promise((resolve, reject) => {
      const body = new CollectedBytes()
      const refuse = (error: AppError): void => {
        // Taking the rest in and dropping it would let a caller hold us for ever.
        request.removeAllListeners('data').off('end', whole).resume()
        body.clear()
        halfBodies.release(receiver)
        reject(error)
      }
      const receiver: BodyReceiver = { giveUp: () => refuse(tooManyPartialBodies()) }
      const whole = (): void => {
        halfBodies.release(receiver)
        // The request lives on, and would keep what is left here as long as its answer takes.
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
        halfBodies.hold(receiver, chunk.length)
      })
      request.on('end', whole)
      // An error is also what a connection that breaks off amounts to.
      request.on('error', (cause) => {
        halfBodies.release(receiver)
        reject(bodyIncomplete(cause))
      })
    })
  }

  override freeBody(): void {
    if (this.#body !== undefined) freeBytes(this.#body)
    this.#body = undefined
  }

  /** Has a caller who waits for it send the body. Where this is never called, the answer ends the connection: node says so in it. */
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

  /** A flat header list is what node writes fastest. */
  send(...[status, body, contentType = JSON_TYPE, extraHeaders = []]: Parameters<Exchange['send']>): void {
    const { response } = this
    if (response.headersSent || this.#isClaimed) return
    if (response.destroyed) {
      // Nobody hears it, but it is logged and counted.
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
   * Reserves the response for an answer that something else writes to it: from now on `send` does nothing. Returns false
   * if it was answered already, as a request that was refused while its handler ran.
   */
  claimResponse(): boolean {
    if (this.response.headersSent) return false
    this.#isClaimed = true
    return true
  }

  /** Counts what has not gone out yet of an answer that something else wrote to the response. */
  written(): void {
    if (!this.response.writableFinished) this.#holdUnread(this.response.writableLength)
  }

  #holdUnread(bytes: number): void {
    const isRead = this.#limits.unreadAnswers.hold(this.request.socket, bytes)
    if (isRead !== undefined) this.response.once('close', isRead)
  }
}
