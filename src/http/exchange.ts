import type { IncomingMessage, ServerResponse } from 'node:http'

import type { AppError } from '../errors.js'
import { errorAnswer } from './error-body.js'
import type { RequestTarget } from './request-target.js'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Who called, as far as it is known. */
export interface Caller {
  /** The name of the token that was presented; undefined when none is asked for. */
  readonly tokenName: string | undefined
}

/** One request and its response, with what every handler needs of them. */
export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly target: RequestTarget
  readonly requestId: string
  /** High-resolution start, in milliseconds. */
  readonly startedAt: number
  caller: Caller = { tokenName: undefined }
  /** The label of the metrics: a kind of route, never a path. */
  handler = 'unmatched'
  /** Set once a decision is made for the request, so that an error can be looked up in the decision log. */
  decisionId: string | undefined
  /** Set when the answer was an error, for the log. */
  failure: AppError | undefined

  constructor(request: IncomingMessage, response: ServerResponse, target: RequestTarget, requestId: string) {
    this.request = request
    this.response = response
    this.target = target
    this.requestId = requestId
    this.startedAt = performance.now()
  }

  get method(): string {
    return this.request.method ?? 'GET'
  }

  /** One request header as text; of a repeated one the first. */
  header(name: string): string | undefined {
    const value = this.request.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  /** `x-spinnaker-user` is what the caller claims, not a credential. */
  get callerName(): string | undefined {
    const claimed = this.header('x-spinnaker-user')
    return this.caller.tokenName ?? (claimed ? `claimed:${claimed}` : undefined)
  }

  /** Ends the exchange with a body. A flat header list is what node writes fastest. */
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

  /** Ends the exchange with an error in the one shape. */
  fail(error: AppError, extraHeaders: readonly string[] = []): void {
    this.failure = error
    const { status, body, headers } = errorAnswer(error)
    this.send(status, body, JSON_TYPE, [...Object.entries(headers).flat(), ...extraHeaders])
  }
}
