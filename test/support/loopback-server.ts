import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/** One request as a server saw it. */
export interface SeenRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

export interface LoopbackServer {
  readonly port: number
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly origin: string
  readonly seen: readonly SeenRequest[]
  readonly close: () => Promise<void>
}

/** A response of a server. `respond` may also leave the response open. */
export type Respond = (request: SeenRequest, response: ServerResponse, nth: number) => void

/** A real server on a free loopback port, which notes every request before it answers. */
export async function startLoopbackServer(
  respond: Respond,
  tls?: { readonly key: string; readonly cert: string },
): Promise<LoopbackServer> {
  const seen: SeenRequest[] = []
  const listener: RequestListener = (request, response) => {
    void readRequest(request).then((one) => {
      seen.push(one)
      respond(one, response, seen.length)
    })
  }
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    origin: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function readRequest(request: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  const { method = '', url = '', headers } = request
  return { method, url, headers, body: Buffer.concat(chunks).toString() }
}

/** Answers with a JSON document. */
export function respondJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
