import type { Role } from '../../config/sections/roles.js'
import { claimedName } from '../../lib/text/claimed-name.js'
import { readHeaderText } from '../../lib/text/header-text.js'
import type { AppError } from '../../errors/app-error.js'
import type { ClientCertificate } from './client-certificate.js'
import { errorAnswer, errorLine } from './error-body.js'

export const JSON_TYPE = 'application/json; charset=utf-8'

const NO_HEADERS: readonly string[] = []

/** The authenticated caller. */
export interface Caller {
  /** Name of the token or certificate; undefined if none is required. */
  readonly tokenName: string | undefined
  /** True if everything is allowed: for admins, and for all callers if no tokens are configured. */
  readonly isAdmin: boolean
  readonly roles?: readonly Role[]
  /** For the approvers of gates. */
  readonly groups?: readonly string[]
  /** Set for an account of the identity provider: how it has signed in, if the provider says so. */
  readonly account?: { readonly acr: string | undefined } | undefined
  /** CSRF token of the caller's forms. */
  readonly formToken?: string
}

/** The caller before it is known. */
export const UNKNOWN_CALLER: Caller = { tokenName: undefined, isAdmin: false }

/** `traceparent` of W3C Trace Context. A trace id of zeros is invalid. */
const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/

/** A request and its response, independent of the HTTP server that reads it. */
export abstract class Exchange {
  readonly method: string
  readonly target: RequestTarget
  readonly requestId: string
  /** High-resolution start time, in milliseconds. */
  readonly startedAt = performance.now()
  caller: Caller = UNKNOWN_CALLER
  #traceId: string | undefined
  /** Metric label of the route. It is never a path. */
  handler = 'unmatched'
  /** Additional headers for errors: names and values in turn. */
  errorHeaders: readonly string[] = NO_HEADERS
  /** True if the client shows error bodies verbatim. */
  showsErrors = false
  /** Set once a decision was made, so that an error can be found in the decision log. */
  decisionId: string | undefined
  /** Refuses the request after authentication, if set. */
  refusal: AppError | undefined
  /** Set if the response was an error, for logging. */
  failure: AppError | undefined

  constructor(method: string, url: string, requestId: string) {
    this.method = method
    this.target = parseRequestTarget(url)
    this.requestId = requestId
  }
  abstract readonly status: number
  /** Address of the client, if the connection still knows it. */
  abstract readonly remoteAddress: string | undefined
  /** True if the request came over TLS. */
  abstract readonly isTls: boolean

  /** The client certificate; undefined if there is none. */
  get clientCertificate(): ClientCertificate | undefined {
    return undefined
  }

  /** Returns the first value of a header. The name must be in lower case. */
  abstract header(name: string): string | undefined

  /** Names and values of the headers in turn, as the client spells them. */
  abstract readonly rawHeaders: readonly string[]

  /** The trace of the request: 32 hex digits. By default that of the caller, if any. */
  get traceId(): string | undefined {
    return this.#traceId ?? TRACEPARENT.exec(this.header('traceparent') ?? '')?.[1]
  }

  set traceId(id: string | undefined) {
    this.#traceId = id
  }

  /**
   * Waits until a request with this many bytes may continue. Rejects with `unavailable` if that
   * takes too long, and with `invalid` if the client is gone.
   */
  abstract takeTurn(bytes: number): Promise<void>

  /** Renders a page or list in the page queue. Rejects like `takeTurn`. */
  abstract makePage<T>(make: () => Promise<T>): Promise<T>

  /**
   * Reads the raw body, then waits for the request's turn. A second call returns the same bytes.
   * Rejects with `too_large` over `limit` bytes, and with `invalid` if the client disconnects.
   */
  abstract readBytes(limit: number): Promise<Buffer>

  /** Frees the memory of the body. Called after the response, when nothing reads the body again. */
  freeBody(): void {
    // No body was read.
  }

  /** Sends the response. Does nothing if the client is gone or a response was sent. */
  abstract send(
    status: number,
    body: string | Buffer,
    contentType?: string,
    extraHeaders?: readonly string[],
  ): void

  /**
   * Registers a listener for the client disconnecting before the response. It replaces the previous
   * listener.
   */
  abstract whenGone(listener: () => void): void

  /**
   * Closes the connection in the middle of a response that cannot be completed, so that the client
   * notices.
   */
  breakOff(error: AppError): void {
    this.failure = error
    this.cut()
  }

  protected abstract cut(): void

  /** Responds with an error. */
  fail(error: AppError): void {
    this.failure = error
    const { status, body, headers } = this.showsErrors ? errorLine(error) : errorAnswer(error)
    this.send(status, body, JSON_TYPE, [...Object.entries(headers).flat(), ...this.errorHeaders])
  }

  /** The user that the client claims to act for (`x-spinnaker-user`). It is not authenticated. */
  get claimedUser(): string | undefined {
    const claimed = this.header('x-spinnaker-user')?.trim()
    return claimed ? readHeaderText(claimed) : undefined
  }

  get callerName(): string | undefined {
    const { tokenName } = this.caller
    if (tokenName !== undefined) return tokenName
    const claimed = this.claimedUser
    return claimed === undefined ? undefined : claimedName(claimed)
  }
}

/** Hono bindings of the web application. */
export interface AppEnv {
  readonly Bindings: { readonly exchange: Exchange }
}

/** The path and query of a request line. */
export interface RequestTarget {
  /** Without repeated and trailing slashes, with percent escapes as sent. `/` for the root. */
  readonly path: string
  /** Without the question mark; undefined if there is none. */
  readonly query: string | undefined
}

/**
 * Splits a request target. Repeated and trailing slashes are accepted, since clients concatenate
 * URLs carelessly.
 */
export function parseRequestTarget(url: string): RequestTarget {
  const mark = url.indexOf('?')
  const rawPath = mark === -1 ? url : url.slice(0, mark)
  return { path: tidyPath(rawPath), query: mark === -1 ? undefined : url.slice(mark + 1) }
}

function tidyPath(path: string): string {
  if (!path.includes('//') && (path.length === 1 || !path.endsWith('/'))) return path === '' ? '/' : path
  const collapsed = path.replace(/\/{2,}/g, '/')
  return collapsed.length > 1 && collapsed.endsWith('/') ? collapsed.slice(0, -1) : collapsed
}
