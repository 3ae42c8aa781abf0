import { z } from 'zod'

import { parseJson } from '../../lib/json/text/parse-json.js'
import { AppError, toError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { errorKindOf } from '../../http/exchange/error-body.js'
import { printable } from '../../lib/text/shown-text.js'
import { writeHeaderText } from '../../lib/text/header-text.js'
import { tlsProblem } from '../../lib/outbound/tls-problem.js'
import { serviceAddress } from './service-options.js'
import type { AddressOptions, ServiceAddress, ServiceOptions } from './service-options.js'
import type { Session } from './session.js'
import { outJson } from './shared-options.js'
import type { Terminal } from './terminal.js'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
type QueryValue = string | number | boolean | undefined

/** A request to the service. */
export interface ServiceRequest {
  readonly method?: Method
  readonly path: string
  readonly query?: Readonly<Record<string, QueryValue>>
  readonly body?: unknown
  /** A gzip archive to send in place of `body`. */
  readonly archive?: Uint8Array | undefined
  readonly accept?: string
  /** User to act for, if the service requires no credentials. */
  readonly claimedUser?: string | undefined
  /** An additional status that counts as success. */
  readonly answersWith?: number
}

/** Client of a running service. Every call raises the AppError of the service's response. */
export interface ServiceClient {
  /** URL or socket path, as shown to people. */
  readonly shown: string
  /**
   * Returns the response parsed by the schema. Raises `unavailable` if another program responded.
   */
  request<S extends z.ZodType>(schema: S, request: ServiceRequest): Promise<z.output<S>>
  /** Returns the bytes of a long response as they arrive. */
  stream(request: ServiceRequest): Promise<AsyncIterable<Uint8Array>>
}

const Location = z.object({ file: z.string(), row: z.number(), col: z.number() })
const ErrorBody = z.object({
  code: z.string(),
  message: z.string(),
  errors: z
    .array(
      z.object({ code: z.string(), message: z.string(), location: Location.optional().catch(undefined) }),
    )
    .default([]),
})

/**
 * Creates a client for the service given by flags and environment. Raises `invalid` for a malformed
 * address.
 */
export async function makeServiceClient(options: AddressOptions, terminal: Terminal): Promise<ServiceClient> {
  return clientOf(await serviceAddress(options, terminal))
}

/**
 * Sends a request, prints the answer as JSON or as `textOf` describes it, without control characters
 * of other people, and returns it. Raises as the client does.
 */
export async function printAnswer<T>(
  options: ServiceOptions,
  { schema, request, textOf }: ShownRequest<T>,
  { terminal }: Pick<Session, 'terminal'>,
): Promise<T> {
  const client = await makeServiceClient(options, terminal)
  const answer = await client.request(schema, request)
  if (options.format === 'json') outJson(terminal, answer)
  else terminal.out(printable(textOf(answer)))
  return answer
}

/** A request with the form of its answer, and its text for people. */
interface ShownRequest<T> {
  readonly schema: z.ZodType<T>
  readonly request: ServiceRequest
  readonly textOf: (answer: T) => string
}

/** Creates a client for an address. */
export function clientOf(address: ServiceAddress): ServiceClient {
  return {
    shown: address.shown,
    request: async (schema, request) => {
      const response = await send(address, request)
      const answer = schema.safeParse(parseJson(await whole(address, response)))
      if (answer.success) return answer.data
      throw foreignAnswer(address, response.status, answer.error)
    },
    stream: async (request) => {
      const { body } = await send(address, request)
      return body === null ? nothing() : piecesOf(address, body)
    },
  }
}

async function send(address: ServiceAddress, request: ServiceRequest): Promise<Response> {
  const { method = 'GET', body, archive, accept, claimedUser, answersWith } = request
  const headers = {
    ...(address.token !== undefined && { authorization: `Bearer ${address.token}` }),
    ...(accept !== undefined && { accept }),
    ...(claimedUser !== undefined && { 'x-spinnaker-user': headerOfName(claimedUser) }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(archive !== undefined && { 'content-type': 'application/gzip' }),
  }
  const response = await address
    .fetch(targetOf(address, request), {
      method,
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(archive !== undefined && { body: new Uint8Array(archive) }),
    })
    .catch((cause: unknown) => {
      throw notReached(address, cause)
    })
  if (response.ok || response.status === answersWith) return response
  throw errorOf(address, response.status, await whole(address, response))
}

/** Rejects an empty name, such as that of an unset variable, which would review as nobody. */
function headerOfName(name: string): string {
  if (/^[^\p{Cc}]*[^\p{Cc}\s][^\p{Cc}]*$/u.test(name)) return writeHeaderText(name)
  throw new AppError('invalid', `--as must be a name on one line, not ${JSON.stringify(name)}`)
}

function targetOf({ url }: ServiceAddress, { path, query = {} }: ServiceRequest): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value))
  const text = given.toString()
  return `${url}${path}${text === '' ? '' : `?${text}`}`
}

async function whole(address: ServiceAddress, response: Response): Promise<string> {
  return await response.text().catch((cause: unknown) => {
    throw notReached(address, cause)
  })
}

function errorOf(address: ServiceAddress, status: number, text: string): AppError {
  const parsed = ErrorBody.safeParse(parseJson(text))
  if (!parsed.success) return foreignAnswer(address, status, parsed.error)
  const { code, message, errors } = parsed.data
  const details: readonly ErrorDetail[] = errors.map(({ location, ...detail }) => ({
    ...detail,
    ...(location !== undefined && { location }),
  }))
  const flags = code === 'unauthenticated' ? ' (--token-file FILE, or TIDEGATE_TOKEN)' : ''
  return new AppError(errorKindOf(status), message + flags, { code, details })
}

function foreignAnswer({ shown }: ServiceAddress, status: number, cause: Error): AppError {
  return new AppError(
    'unavailable',
    `the server at ${shown} (status ${status}) is not this release of tidegate; check --url`,
    { cause },
  )
}

const TLS_FLAGS = {
  trust: 'give --ca-file FILE',
  show: 'of a CA that it trusts; pass --client-certificate and --client-key',
}

const HUNG_UP =
  'If it requires client certificates (server.tlsRequireClient), pass --client-certificate and --client-key.'

/** `fetch` reports the reason only in its cause. */
function notReached({ shown, url }: ServiceAddress, raw: unknown): AppError {
  const error = toError(raw)
  const cause = toError(error.cause ?? error)
  const code = 'code' in cause ? String(cause.code) : undefined
  const problem = tlsProblem(cause, code, url.startsWith('http:'), TLS_FLAGS)
  if (problem !== undefined)
    return new AppError('unavailable', `cannot call the service at ${shown}: ${problem}`, { cause: raw })
  if (code === 'UND_ERR_SOCKET')
    return new AppError('unavailable', `The service at ${shown} closed the connection. ${HUNG_UP}`, {
      cause: raw,
    })
  const reason = code ?? cause.message
  return new AppError(
    'unavailable',
    `No service responds at ${shown} (${reason}). Start it with tidegate serve, or pass --url.`,
    { cause: raw },
  )
}

async function* piecesOf(
  { shown }: ServiceAddress,
  body: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  try {
    yield* body
  } catch (cause) {
    throw new AppError(
      'unavailable',
      `The response of the service at ${shown} is incomplete: the connection was closed.`,
      {
        cause,
      },
    )
  }
}

async function* nothing(): AsyncIterable<Uint8Array> {
  // The response has no body.
}
