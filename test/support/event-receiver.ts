import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

export type SentEvent = Readonly<Record<string, unknown>>

/** A real service of OPA's decision log protocol on a free loopback port. */
export interface EventReceiver {
  readonly url: string
  readonly uploads: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[]
  /** The events of the accepted uploads, in order; an upload in another form is one event. */
  readonly events: readonly SentEvent[]
  /** Responds to later uploads with this status, and never if it is undefined. */
  respond(status: number | undefined, headers?: Readonly<Record<string, string>>): void
  /** Accepts a number of uploads and responds to later ones with 500. */
  failAfter(uploads: number): void
  /** Refuses larger compressed bodies with 413. */
  limit(bytes: number): void
  readonly close: () => Promise<void>
}

export async function startEventReceiver(): Promise<EventReceiver> {
  const uploads: { path: string; headers: IncomingHttpHeaders }[] = []
  const events: SentEvent[] = []
  let answer: { status: number | undefined; headers: Readonly<Record<string, string>> } = {
    status: 200,
    headers: {},
  }
  let maxBytes = Infinity
  let accepted = Infinity
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      uploads.push({ path: request.url ?? '', headers: request.headers })
      if (answer.status === undefined) return
      const status = body.length > maxBytes ? 413 : answer.status
      accepted -= 1
      if (accepted === 0) answer = { status: 500, headers: {} }
      if (status === 200) {
        const sent = JSON.parse(gunzipSync(body).toString()) as SentEvent | SentEvent[]
        events.push(...(Array.isArray(sent) ? sent : [sent]))
      }
      response.writeHead(status, answer.headers).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    uploads,
    events,
    respond: (status, headers = {}) => {
      answer = { status, headers }
    },
    failAfter: (count) => {
      accepted = count
    },
    limit: (bytes) => {
      maxBytes = bytes
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
