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
