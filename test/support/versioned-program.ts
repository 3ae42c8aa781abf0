import { startLoopbackServer } from './loopback-server.js'
import type { LoopbackServer } from './loopback-server.js'

/**
 * A small program of several versions for Prometheus to scrape, each with the usual time of its
 * requests in milliseconds. Their times go up and down with every scrape, each version in a rhythm
 * of its own, so that no test hangs on chance.
 */
export async function startVersionedProgram(
  versions: Readonly<Record<string, number>>,
): Promise<LoopbackServer> {
  return await startLoopbackServer((_, response, nth) => {
    const lines = Object.entries(versions).map(([version, level], rhythm) => {
      const value = level * (1 + 0.05 * Math.sin(nth * 2.4 + rhythm))
      return `request_ms{version="${version}"} ${value}`
    })
    response
      .writeHead(200, { 'content-type': 'text/plain; version=0.0.4' })
      .end(`# TYPE request_ms gauge\n${lines.join('\n')}\n`)
  })
}
