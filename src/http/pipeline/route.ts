import type { z } from 'zod'

import type { Role } from '../../config/sections/roles.js'
import type { AppError } from '../../errors/app-error.js'
import type { Exchange } from '../exchange/exchange.js'
import type { BodyDescription, BodyReader } from '../input/body-reader.js'
import type { PathParameter } from '../input/path-parameter.js'

/** Methods of routes. HEAD comes with GET. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A response with one status. */
export interface AnswerDescription {
  readonly description: string
  readonly schema?: z.ZodType
  /** Media types; `schema` describes the first. JSON by default; none for an empty body. */
  readonly types?: readonly string[]
  /** Descriptions of additional headers by name. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Declarative part of a route: everything before its handler, and its entry in the OpenAPI
 * document. A route is open to its `roles` or to holders of its `credential`. A route with neither
 * is closed to everyone, including admins and services without tokens.
 */
export interface RouteDescription {
  readonly method: Method
  /**
   * `:name` matches one segment, and `/*` at the end everything below. Repeated and trailing
   * slashes of a request are ignored.
   */
  readonly path: string
  /** Roles with access, in addition to admin; `anyone` requires no token. */
  readonly roles?: readonly Role[] | 'anyone'
  /** Metric label. It is never a path. */
  readonly handler: string
  readonly summary: string
  readonly params?: Readonly<Record<string, PathParameter<unknown>>>
  readonly query?: z.ZodType
  readonly body?: BodyDescription
  /** A credential other than a bearer token, for a route without roles. */
  readonly credential?: { readonly name: CredentialName }
  /**
   * Responses by status. Generic ones are omitted: 401, 403, 405, 500, 503, and 400, 404, 413, 415
   * depending on the input.
   */
  readonly answers: Readonly<Record<number, AnswerDescription>>
  /** Response for a caller without access, if it is not an error. */
  readonly refused?: object | undefined
  /** True if clients show error bodies verbatim. Errors are then a single line. */
  readonly showsErrors?: true
  /** True for pages, whose viewers may sign in instead of sending a token. */
  readonly isPage?: true
  /** True for health probes. They bypass the queue and accept HEAD. */
  readonly isProbe?: true
  /** True for small responses that programs poll. They bypass the page queue. */
  readonly isPolled?: true
  /**
   * True if 401 means that a policy denies. A missing or unknown token is then answered with 403.
   */
  readonly reserves401ForDenials?: true
}

/** A request before parsing. */
export interface SentRequest {
  readonly exchange: Exchange
  /** Unescaped path segments. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** Returns the media type that the client prefers; the first by default. */
  readonly prefers: (first: string, ...others: readonly string[]) => string
}

/** The parsed and validated input of a handler. */
export interface Call<P, Q, B> {
  readonly exchange: Exchange
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly prefers: SentRequest['prefers']
}

type Answered = Response | Promise<Response>

/** A row of a route list. `D` is the type of the list's dependencies. */
export interface RouteRow<D, P, Q extends z.ZodType, B> extends RouteDescription {
  readonly params?: { readonly [K in keyof P]: PathParameter<P[K]> } & RouteDescription['params']
  readonly query?: Q
  readonly body?: BodyReader<D, B>
  /** Checked after the path is parsed. */
  readonly credential?: Credential<D, P>
  readonly answer: (call: Call<P, z.output<Q>, B>, deps: D) => Answered
  readonly refused?: (refusal: AppError, sent: SentRequest, deps: D) => Answered
  /** Response for any later failure, instead of an error. */
  readonly failed?: (failure: AppError, sent: SentRequest, deps: D) => Answered
}

/**
 * Headers of repository hosts, whose signatures are checked after reading the body, and the token
 * in a report link.
 */
export type CredentialName = 'gitlabToken' | 'githubSignature' | 'bitbucketSignature' | 'reportLink'

/** A credential other than a bearer token. */
export interface Credential<D, P> {
  readonly name: CredentialName
  /** Raises `forbidden` if the credential is missing or wrong. */
  readonly check: (call: { readonly exchange: Exchange; readonly params: P }, deps: D) => void | Promise<void>
}

/**
 * A direct route: its handler responds on the exchange without Hono, which is cheapest for
 * thousands of requests per second. The handler parses query and body itself, and the row only
 * describes them.
 */
export interface DirectRow<D> extends RouteDescription {
  /** `rest` is the path below `/*`; empty without it. */
  readonly answerOn: (deps: D, exchange: Exchange, rest: string) => void | Promise<void>
  /** Additional headers of its errors: names and values in turn. */
  readonly errorHeaders?: readonly string[]
}

/** A row bound to its dependencies. */
export type BoundRoute = BoundApplicationRoute | BoundDirectRoute

/** A route that only the web application serves. */
export interface BoundApplicationRoute extends RouteDescription {
  readonly kind: 'application'
  /** Parses the input and responds. The caller was authenticated before. */
  readonly respond: (sent: SentRequest) => Promise<Response>
  readonly refused?: ((refusal: AppError, sent: SentRequest) => Answered) | undefined
}

/** A direct route, which is also mounted in the web application. */
export interface BoundDirectRoute extends RouteDescription {
  readonly kind: 'direct'
  readonly answerOn: (exchange: Exchange, rest: string) => void | Promise<void>
  readonly errorHeaders: readonly string[]
}

/** A row whose dependencies have type `D`. */
export interface Route<D> {
  readonly description: RouteDescription
  readonly bind: (deps: D) => BoundRoute
}

/** The routes of one feature. */
export interface RouteList {
  /** OpenAPI tag of the feature. */
  readonly feature: string
  readonly routes: readonly RouteDescription[]
}
