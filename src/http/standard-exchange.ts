import type { IncomingMessage, ServerResponse } from 'node:http'

import { bodyBrokeOff, bodyTooLarge } from './body-errors.js'
import { Exchange, JSON_TYPE } from './exchange.js'

const EMPTY = Buffer.alloc(0)

/** An exchange over the request and response of node's own HTTP server. */
export class StandardExchange extends Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse

  constructor(request: IncomingMessage, response: ServerResponse, requestId: string) {
    super(request.method ?? 'GET', request.url ?? '/', requestId)
    this.request = request
    this.response = response
  }

  get status(): number {
    return this.response.statusCode
  }

  get remoteAddress(): string | undefined {
    return this.request.socket.remoteAddress
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  readBytes(limit: number): Promise<Buffer> {
    const { request } = this
    if (Number(this.header('content-length') ?? 0) > limit) return Promise.reject(bodyTooLarge(limit))
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let length = 0
      request.on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length <= limit) chunks.push(chunk)
        else {
          // Taking the rest in and dropping it would let a caller hold us for ever.
          request.removeAllListeners('data').resume()
          reject(bodyTooLarge(limit))
        }
      })
      request.on('end', () => resolve(joinChunks(chunks)))
      // An error is also what a connection that breaks off amounts to.
      request.on('error', (cause) => reject(bodyBrokeOff(cause)))
    })
  }

  override whenGone(listener: () => void): void {
    const { response } = this
    response.once('close', () => {
      if (!response.headersSent) listener()
    })
  }

  protected cut(): void {
    this.response.destroy()
  }

  /** A flat header list is what node writes fastest. */
  send(
    status: number,
    body: string | Buffer,
    contentType = JSON_TYPE,
    extraHeaders: readonly string[] = [],
  ): void {
    const { response } = this
    if (response.headersSent || response.destroyed) return
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
    response.end(this.method === 'HEAD' ? undefined : body)
  }
}

function joinChunks(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks
  if (first === undefined) return EMPTY
  return chunks.length === 1 ? first : Buffer.concat(chunks)
}
