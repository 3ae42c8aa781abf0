import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'

import { startLoopbackServer } from './loopback-server.js'
import type { LoopbackServer, Respond, SeenRequest } from './loopback-server.js'

/** A server of OPA's Bundle Service API with ETags and long polling. */
export interface BundleServer {
  /** The address of a bundle. */
  readonly urlOf: (name: string) => string
  readonly seen: readonly SeenRequest[]
  /** Serves a bundle from now on, also to requests that wait. */
  readonly publish: (name: string, bytes: Uint8Array) => void
  /** Responds by this function from now on; undefined for the published bundles. */
  readonly respondBy: (respond: Respond | undefined) => void
  readonly close: LoopbackServer['close']
}

const LONG_POLL_TYPE = 'application/vnd.openpolicyagent.bundles'

export async function startBundleServer(
  tls?: Parameters<typeof startLoopbackServer>[1],
): Promise<BundleServer> {
  const bundles = new Map<string, Uint8Array>()
  const waiting = new Set<() => void>()
  let own: Respond | undefined
  const answerAll = (): void => {
    for (const answer of [...waiting]) answer()
  }
  const respond: Respond = (request, response, nth) => {
    if (own !== undefined) own(request, response, nth)
    else answer(request, response)
  }
  const answer = ({ url, headers }: SeenRequest, response: ServerResponse): void => {
    const bytes = bundles.get(url)
    if (bytes === undefined) {
      response.writeHead(404).end()
      return
    }
    const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`
    const seconds = Number(/wait=(?<seconds>\d+)/.exec(String(headers['prefer']))?.groups?.['seconds'] ?? 0)
    if (headers['if-none-match'] !== etag) {
      response.writeHead(200, { 'content-type': LONG_POLL_TYPE, etag }).end(bytes)
    } else if (seconds === 0) {
      response.writeHead(304, { 'content-type': LONG_POLL_TYPE, etag }).end()
    } else {
      const end = (): void => {
        waiting.delete(end)
        answer({ url, headers: { ...headers, prefer: '' } } as unknown as SeenRequest, response)
      }
      waiting.add(end)
      response.once('close', () => waiting.delete(end))
    }
  }
  const server = await startLoopbackServer(respond, tls)
  return {
    urlOf: (name) => `${server.origin}/${name}`,
    seen: server.seen,
    publish: (name, bytes) => {
      bundles.set(`/${name}`, bytes)
      answerAll()
    },
    respondBy: (next) => {
      own = next
      answerAll()
    },
    close: server.close,
  }
}
