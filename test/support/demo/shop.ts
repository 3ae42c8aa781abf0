import { startLoopbackServer } from '../loopback-server.js'
import type { LoopbackServer } from '../loopback-server.js'

const HEALTHY_MS = 16_000
const WORSE_WITHIN_MS = 10_000

/**
 * The application that is deployed: two versions of it serve figures of themselves, as Prometheus
 * reads them.
 */
export interface Shop extends LoopbackServer {
  /** From now on the canary serves, and after a while it gets worse and worse. */
  readonly deployCanary: () => void
}

/** Starts the shop; until its canary is deployed, that has no figures. */
export async function startShop(): Promise<Shop> {
  let deployedAtMs: number | undefined
  const server = await startLoopbackServer((_request, response) => {
    const lines = [...figures('stable', 0)]
    if (deployedAtMs !== undefined) lines.push(...figures('canary', trouble(Date.now() - deployedAtMs)))
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(`${lines.join('\n')}\n`)
  })
  return { ...server, deployCanary: () => (deployedAtMs ??= Date.now()) }
}

/** How bad it is, from 0 to 1. */
function trouble(ageMs: number): number {
  return Math.min(1, Math.max(0, (ageMs - HEALTHY_MS) / WORSE_WITHIN_MS))
}

function figures(version: string, badness: number): string[] {
  const noise = (): number => Math.random() - 0.5
  const failed = 2 + noise() + badness * (18 + 4 * noise())
  const seconds = 0.12 + 0.02 * noise() + badness * (0.25 + 0.05 * noise())
  return [
    `shop_failed_requests_per_second{version="${version}"} ${failed.toFixed(3)}`,
    `shop_request_seconds{version="${version}"} ${seconds.toFixed(4)}`,
  ]
}
