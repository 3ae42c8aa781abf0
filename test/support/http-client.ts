import { Agent, request as httpRequest } from 'node:http'
import { Agent as TlsAgent, request as httpsRequest } from 'node:https'
import type { IncomingHttpHeaders } from 'node:http'

/** One request whose target is sent unchanged. `fetch` would normalize the path. */
export interface Asked {
  readonly method?: string | undefined
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

export interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly text: string
}

/** Time after which no response is expected any more. */
const MAX_LATE_MS = 15_000

const agent = new Agent({ keepAlive: true, maxSockets: 256 })
/** For servers of tests, whose certificates nobody else has signed. */
const tlsAgent = new TlsAgent({ rejectUnauthorized: false })

/** Sends a request to a server: POST if there is a body, otherwise GET. Adds no content type. */
export function ask(base: string, { method, path, headers = {}, body }: Asked): Promise<Answered> {
  const { hostname, port, protocol } = new URL(base)
  const isTls = protocol === 'https:'
  const bytes = body === undefined ? undefined : Buffer.from(body)
  return new Promise((resolve, reject) => {
    const request = (isTls ? httpsRequest : httpRequest)({
      agent: isTls ? tlsAgent : agent,
      hostname,
      port,
      path,
      timeout: MAX_LATE_MS,
      method: method ?? (bytes === undefined ? 'GET' : 'POST'),
      headers: { ...(bytes !== undefined && { 'content-length': String(bytes.length) }), ...headers },
    })
    request.once('error', reject)
    request.once('timeout', () => request.destroy(new Error(`no answer: ${path}`)))
    request.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () => {
        const whole = Buffer.concat(chunks)
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: whole,
          text: whole.toString(),
        })
      })
    })
    request.end(bytes)
  })
}

/** Posts a value as JSON. */
export function postJson(
  base: string,
  path: string,
  value: unknown,
  headers: Record<string, string> = {},
): Promise<Answered> {
  return ask(base, {
    path,
    body: JSON.stringify(value),
    headers: { 'content-type': 'application/json', ...headers },
  })
}

/** The body of an answer as a JSON object; anything else fails the test. */
export function objectOf({ text }: Answered): Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`no JSON object: ${text}`)
  return value as Record<string, unknown>
}
