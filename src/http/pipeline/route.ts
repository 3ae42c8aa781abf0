import type { z } from 'zod'

import type { Role } from '../../config/sections/auth.js'
import type { AppError } from '../../errors/app-error.js'
import type { Exchange } from '../exchange/exchange.js'
import type { BodyDescription, BodyReader } from '../input/body-reader.js'
import type { PathParameter } from '../input/path-parameter.js'

/** The methods that routes have; HEAD comes with GET. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** What an answer of one status holds. */
export interface AnswerDescription {
  readonly description: string
  readonly schema?: z.ZodType
  /** The media types, that of `schema` first; JSON where none is named. */
  readonly types?: readonly string[]
  /** What headers say beside those of every answer, by name. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * What a route says of itself, whatever answers it: all that is done before its handler, and all that the description of the API tells.
 * A route is open to whom its `roles` name or to who has its `credential`; one with neither is closed to everybody, an admin too, and
 * also where no tokens are configured.
 */
export interface RouteDescription {
  readonly method: Method
  /** `:name` stands for one segment; `/*` at the end for whatever is below. Repeated and trailing slashes of a request are gone. */
  readonly path: string
  /** Tokens of which roles may ask (an admin may wherever anybody may); `anyone` asks for no token. */
  readonly roles?: readonly Role[] | 'anyone'
  /** The label of the metrics: a kind of route, never a path. */
  readonly handler: string
  readonly summary: string
  readonly params?: Readonly<Record<string, PathParameter<unknown>>>
  readonly query?: z.ZodType
  readonly body?: BodyDescription
  /** Another credential than a bearer token, by which a route is open that names no role. */
  readonly credential?: { readonly name: CredentialName }
  /** By status. What every route may answer is left out: 401, 403, 405, 500, 503, and 400, 404, 413, 415 as its input asks for it. */
  readonly answers: Readonly<Record<number, AnswerDescription>>
  /** What a caller without the right is answered, where that is no error. */
  readonly refused?: object | undefined
  /** Whether callers show the body of an error to people as it is, who are told in one short line then. */
  readonly showsErrors?: true
  /** Whether it is for people in browsers, who may sign in instead of sending a token. */
  readonly isPage?: true
  /** Whether programs ask it to know how the service is: it is answered at once, whoever waits in line, and takes HEAD wherever it is answered. */
  readonly isProbe?: true
  /** Whether programs ask it again and again, for a few hundred bytes or for what must be there: it waits for nobody's pages. */
  readonly isPolled?: true
  /** Whether 401 means that a policy denies, so that a missing or unknown token is 403. */
  readonly deniesWith401?: true
}

/** What was sent, before any of it is read. */
export interface SentRequest {
  readonly exchange: Exchange
  /** The segments of the path, unescaped. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** Which of some media types the caller likes best; the first where it does not say. */
  readonly prefers: (first: string, ...others: readonly string[]) => string
}

/** What a handler is given: all of the request that its row names, read and checked. */
export interface Call<P, Q, B> {
  readonly exchange: Exchange
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly prefers: SentRequest['prefers']
}

type Answered = Response | Promise<Response>

/** A row of a list: what is done before the handler, and the handler. `D` is what all rows of the list are given. */
export interface RouteRow<D, P, Q extends z.ZodType, B> extends RouteDescription {
  readonly params?: { readonly [K in keyof P]: PathParameter<P[K]> } & RouteDescription['params']
  readonly query?: Q
  readonly body?: BodyReader<D, B>
  /** Checked after the path was read. */
  readonly credential?: Credential<D, P>
  readonly answer: (call: Call<P, z.output<Q>, B>, deps: D) => Answered
  readonly refused?: (refusal: AppError, sent: SentRequest, deps: D) => Answered
  /** What anything that goes wrong later is answered with instead of the error. */
  readonly failed?: (failure: AppError, sent: SentRequest, deps: D) => Answered
}

/** A header of a repository host, of which a signature is checked when its body is read; a token in the path of the link to a report. */
export type CredentialName = 'gitlabToken' | 'githubSignature' | 'bitbucketSignature' | 'reportLink'

/** A credential that is no bearer token. */
export interface Credential<D, P> {
  readonly name: CredentialName
  /** Raises `forbidden` where it is missing or wrong. */
  readonly check: (call: { readonly exchange: Exchange; readonly params: P }, deps: D) => void | Promise<void>
}

/**
 * A row whose handler answers on the exchange itself, which costs least: thousands of these requests a second arrive. Such a handler reads
 * query and body itself, and the row says what it reads.
 */
export interface DirectRow<D> extends RouteDescription {
  /** `rest` is what was sent in the place of `/*`; empty without it. */
  readonly answerOn: (deps: D, exchange: Exchange, rest: string) => void | Promise<void>
  /** Headers that its errors have, too: names and values in turn. */
  readonly errorHeaders?: readonly string[]
}

/** A row with what it is given, ready to be asked. */
export type BoundRoute = BoundApplicationRoute | BoundDirectRoute

/** A route that is asked through the web application alone. */
export interface BoundApplicationRoute extends RouteDescription {
  readonly kind: 'application'
  /** Reads what the row names and answers; the caller's roles were checked. */
  readonly respond: (sent: SentRequest) => Promise<Response>
  readonly refused?: ((refusal: AppError, sent: SentRequest) => Answered) | undefined
}

/** A route that is found before the web application, too. */
export interface BoundDirectRoute extends RouteDescription {
  readonly kind: 'direct'
  readonly answerOn: (exchange: Exchange, rest: string) => void | Promise<void>
  readonly errorHeaders: readonly string[]
}

/** A row of a list whose rows are all given `D`. */
export interface Route<D> {
  readonly description: RouteDescription
  readonly bind: (deps: D) => BoundRoute
}

/** The routes of one feature. */
export interface RouteList {
  /** What the feature is called in the description of the API. */
  readonly feature: string
  readonly routes: readonly RouteDescription[]
}
