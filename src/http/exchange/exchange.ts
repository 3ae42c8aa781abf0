import type { Role } from '../../config/sections/auth.js'
import { claimedName } from '../../lib/text/claimed-name.js'
import { readHeaderText } from '../../lib/text/header-text.js'
import type { AppError } from '../../errors/app-error.js'
import type { ClientCertificate } from './client-certificate.js'
import { errorAnswer, errorLine } from './error-body.js'

export const JSON_TYPE = 'application/json; charset=utf-8'

const NO_HEADERS: readonly string[] = []

/** Who called, as far as it is known. */
export interface Caller {
  /** The name of the token or certificate that was presented; undefined when none is asked for. */
  readonly tokenName: string | undefined
  /** Whether everything is allowed: to an admin, and to everybody where no tokens are configured. */
  readonly isAdmin: boolean
  /** The roles of the token. */
  readonly roles?: readonly Role[]
  /** What the forms of a page hold, so that no page of others can send them. */
  readonly formToken?: string
}

const UNKNOWN_CALLER: Caller = { tokenName: undefined, isAdmin: false }

/** One request and its answer, with what every handler needs of them, whichever reader of HTTP took the request in. */
export abstract class Exchange {
  readonly method: string
  readonly target: RequestTarget
  readonly requestId: string
  /** High-resolution start, in milliseconds. */
  readonly startedAt = performance.now()
  caller: Caller = UNKNOWN_CALLER
  /** The label of the metrics: a kind of route, never a path. */
  handler = 'unmatched'
  /** What errors of the route have beside the headers of every error: names and values in turn. */
  errorHeaders: readonly string[] = NO_HEADERS
  /** Whether whoever asks shows the body of an error to people as it is. */
  showsErrors = false
  /** Set once a decision is made for the request, so that an error can be looked up in the decision log. */
  decisionId: string | undefined
  /** Why it is refused whatever it asks, once it is known that its caller may ask. */
  refusal: AppError | undefined
  /** Set when the answer was an error, for the log. */
  failure: AppError | undefined

  constructor(method: string, url: string, requestId: string) {
    this.method = method
    this.target = parseRequestTarget(url)
    this.requestId = requestId
  }

  /** The status of the answer. */
  abstract readonly status: number
  /** Where the request came from, as far as the connection still tells. */
  abstract readonly remoteAddress: string | undefined
  /** Whether it came over TLS. */
  abstract readonly isTls: boolean

  /** The certificate that the caller showed, read when it is asked for; undefined where there is none. */
  get clientCertificate(): ClientCertificate | undefined {
    return undefined
  }

  /** One request header, by its name in lower case, as text; of a repeated one the first. */
  abstract header(name: string): string | undefined

  /**
   * Waits for the turn of a request that holds this many bytes; undefined where it may go on at once. Rejects with `unavailable` where that would take too long,
   * and with `invalid` where the caller is gone.
   */
  abstract takeTurn(bytes: number): Promise<void>

  /** Makes a page or a list once few others are being made. Rejects as `takeTurn`. */
  abstract makePage<T>(make: () => Promise<T>): Promise<T>

  /** The body as it was sent, read once, at the turn of the request. Rejects with `too_large` over `limit` bytes, `invalid` when it breaks off. */
  abstract readBytes(limit: number): Promise<Buffer>

  /** Frees the memory of the body; called once the request has been answered and nothing reads the body again. */
  freeBody(): void {
    // Nothing was read.
  }

  /** Ends the exchange with a body; does nothing when the caller is gone, or answered already. */
  abstract send(
    status: number,
    body: string | Buffer,
    contentType?: string,
    extraHeaders?: readonly string[],
  ): void

  /** Calls a listener when the caller goes away before there is an answer. A later listener replaces an earlier one. */
  abstract whenGone(listener: () => void): void

  /** Ends the connection in the middle of an answer that cannot be finished, so that nobody takes it for whole. */
  breakOff(error: AppError): void {
    this.failure = error
    this.cut()
  }

  protected abstract cut(): void

  /** Ends the exchange with an error in the one shape. */
  fail(error: AppError): void {
    this.failure = error
    const { status, body, headers } = this.showsErrors ? errorLine(error) : errorAnswer(error)
    this.send(status, body, JSON_TYPE, [...Object.entries(headers).flat(), ...this.errorHeaders])
  }

  /** The user that the caller says it acts for (`x-spinnaker-user`): a claim, not a credential. */
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

/** What a route of the web application finds beside the request itself. */
export interface AppEnv {
  readonly Bindings: { readonly exchange: Exchange }
}

/** The path and query of a request line. */
export interface RequestTarget {
  /** Without repeated and trailing slashes; percent escapes as sent. `/` for the root. */
  readonly path: string
  /** Without the question mark; undefined when there is none. */
  readonly query: string | undefined
}

/** Splits a request target; callers concatenate URLs carelessly, so `//v1/…` and a trailing slash are taken. */
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
