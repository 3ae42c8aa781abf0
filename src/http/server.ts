import type { Server } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

import type { ListenAddress } from '../config/sections/listen-address.js'
import { AppError, hasErrorCode, toError } from '../errors/app-error.js'
import type { Admission } from './pipeline/admit-request.js'
import type { FindQuickly } from './pipeline/quick-routes.js'
import { ConnectionLimit } from './transport/connection-limit.js'
import { drainServer } from './drain-server.js'
import { openFastTransport } from './transport/fast/open-fast-transport.js'
import type { HandleRequest } from './transport/handle-request.js'
import { HalfBodies } from './transport/half-bodies.js'
import { makeRequestIds } from './exchange/request-id.js'
import { createStandardServer } from './transport/node/standard-server.js'
import type { RequestTimeouts, Room } from './transport/node/standard-server.js'

/** A server that listens. */
export interface RunningServer {
  /** `http://127.0.0.1:8181`, with the port that was chosen where 0 was asked for. */
  readonly url: string
  /** Takes no new requests, waits for those that run, and refuses what still runs after `drainMs`. */
  stop(drainMs: number): Promise<void>
}

const TIMEOUTS: RequestTimeouts = {
  // A caller that is slow to send its headers must not hold a connection for ever.
  headersMs: 20_000,
  requestMs: 120_000,
  // Longer than the idle time of the usual load balancers, so that they and not we close a connection.
  keepAliveMs: 75_000,
  // A person may well stop a download for a moment.
  stalledMs: 60_000,
}

/** Callers of one orchestrator keep some hundreds. */
const MAX_CONNECTIONS = 10_000

export interface ServerOptions {
  readonly address: ListenAddress
  readonly takesHost: Admission['takesHost']
  readonly maxBodyBytes: number
  /** Finds the routes whose plain requests have a reader of their own in front of node's; undefined where none have. */
  readonly find: FindQuickly | undefined
}

/** Starts to listen. Raises `unavailable` when the address cannot be had. */
export async function startServer(
  handle: HandleRequest,
  { address: { host, port }, takesHost, maxBodyBytes, find }: ServerOptions,
): Promise<RunningServer> {
  const requestIdFor = makeRequestIds()
  const room: Room = {
    halfBodies: new HalfBodies(maxBodyBytes),
    connections: new ConnectionLimit(MAX_CONNECTIONS),
  }
  const standard = createStandardServer(handle, requestIdFor, TIMEOUTS, room)
  const { server } = standard
  const fastTransport =
    find && openFastTransport(server, { handle, find, requestIdFor, timeouts: TIMEOUTS, takesHost, room })
  room.connections.watch(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (raw) => reject(cannotListen(host, port, raw)))
    server.listen(port, host, resolve)
  })
  return { url: urlOf(server), stop: (drainMs) => drainServer(standard, fastTransport, drainMs) }
}

/**
 * Listens for a moment, so that an address that cannot be had is told before policies are compiled and databases are brought up to date.
 * Raises `unavailable` as the server itself would.
 */
export async function tryAddress({ host, port }: ListenAddress): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', (raw) => reject(cannotListen(host, port, raw)))
    server.listen(port, host, resolve)
  })
  await new Promise((resolve) => server.close(resolve))
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** What to tell when an address cannot be had. */
function cannotListen(host: string, port: number, raw: unknown): AppError {
  const error = toError(raw)
  const hint = hasErrorCode(raw, 'EADDRINUSE') ? ': another program has the port' : ''
  return new AppError('unavailable', `cannot listen on ${host}:${port}${hint} (${error.message})`, {
    cause: raw,
  })
}
