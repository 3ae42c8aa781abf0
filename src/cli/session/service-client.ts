import { z } from 'zod'

import { AppError, toError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { errorKindOf } from '../../http/exchange/error-body.js'
import { writeHeaderText } from '../../lib/text/header-text.js'
import { tlsProblem } from '../../lib/outbound/tls-problem.js'
import { serviceAddress } from './service-options.js'
import type { ServiceAddress, AddressOptions } from './service-options.js'
import type { Terminal } from './terminal.js'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
type QueryValue = string | number | boolean | undefined

/** One request to the service. */
export interface ServiceRequest {
  readonly method?: Method
  /** Begins with a slash. */
  readonly path: string
  /** Absent values are left out. */
  readonly query?: Readonly<Record<string, QueryValue>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** The type of answer that is wanted, where there are several. */
  readonly accept?: string
  /** Who asks, for a service that knows no tokens: a claim that others are not asked for. */
  readonly claimedUser?: string | undefined
  /** A status beside those of success that comes with an answer, and not with an error. */
  readonly answersWith?: number
}

/** A running service, as a command asks it. Every call raises the AppError that the service answered with. */
export interface ServiceClient {
  /** Where it is, as a person names it: a URL, or the path of a socket. */
  readonly shown: string
  /** The answer as its schema reads it; raises `unavailable` for what is none of this service's answers. */
  request<S extends z.ZodType>(schema: S, request: ServiceRequest): Promise<z.output<S>>
  /** The bytes of a long answer as they arrive. */
  stream(request: ServiceRequest): Promise<AsyncIterable<Uint8Array>>
}

const ErrorBody = z.object({
  code: z.string(),
  message: z.string(),
  errors: z.array(z.object({ code: z.string(), message: z.string() })).default([]),
})

/** The service that flags and environment name. Raises `invalid` where they name none. */
export async function makeServiceClient(options: AddressOptions, terminal: Terminal): Promise<ServiceClient> {
  return clientOf(await serviceAddress(options, terminal))
}

/** The service at an address. */
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
  const { method = 'GET', body, accept, claimedUser, answersWith } = request
  const headers = {
    ...(address.token !== undefined && { authorization: `Bearer ${address.token}` }),
    ...(accept !== undefined && { accept }),
    ...(claimedUser !== undefined && { 'x-spinnaker-user': headerOfName(claimedUser) }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const response = await address
    .fetch(targetOf(address, request), {
      method,
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    .catch((cause: unknown) => {
      throw notReached(address, cause)
    })
  if (response.ok || response.status === answersWith) return response
  throw errorOf(address, response.status, await whole(address, response))
}

/** An empty name, such as that of a variable that is not set, would decide as nobody. */
function headerOfName(name: string): string {
  if (/^[^\p{Cc}]*[^\p{Cc}\s][^\p{Cc}]*$/u.test(name)) return writeHeaderText(name)
  throw new AppError('invalid', `--as must name somebody, on one line: ${JSON.stringify(name)} does not`)
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
  const details: readonly ErrorDetail[] = errors
  const flags = code === 'unauthenticated' ? ' (--token-file FILE, or TIDEGATE_TOKEN)' : ''
  return new AppError(errorKindOf(status), message + flags, { code, details })
}

function foreignAnswer({ shown }: ServiceAddress, status: number, cause: Error): AppError {
  return new AppError(
    'unavailable',
    `what answers at ${shown} (status ${status}) is not this release of tidegate: check --url`,
    { cause },
  )
}

const TLS_FLAGS = {
  trust: 'give --ca-file FILE',
  show: 'of an authority that it knows: show one with --client-certificate and --client-key',
}

const HUNG_UP =
  'where it wants certificates of its callers (server.tlsRequireClient), show one that it trusts with --client-certificate and --client-key'

/** `fetch` says only that it failed; why is in the cause. */
function notReached({ shown, url }: ServiceAddress, raw: unknown): AppError {
  const error = toError(raw)
  const cause = toError(error.cause ?? error)
  const code = 'code' in cause ? String(cause.code) : undefined
  const problem = tlsProblem(cause, code, url.startsWith('http:'), TLS_FLAGS)
  if (problem !== undefined)
    return new AppError('unavailable', `the service at ${shown} cannot be asked: ${problem}`, { cause: raw })
  if (code === 'UND_ERR_SOCKET')
    return new AppError('unavailable', `the service at ${shown} hung up: ${HUNG_UP}`, { cause: raw })
  const reason = code ?? cause.message
  return new AppError(
    'unavailable',
    `no service answers at ${shown} (${reason}): start it with tidegate serve, or name another with --url`,
    { cause: raw },
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function* piecesOf(
  { shown }: ServiceAddress,
  body: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  try {
    yield* body
  } catch (cause) {
    throw new AppError('unavailable', `the service at ${shown} broke its answer off: what came is not all`, {
      cause,
    })
  }
}

async function* nothing(): AsyncIterable<Uint8Array> {
  // An answer without a body.
}
