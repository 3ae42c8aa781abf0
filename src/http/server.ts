import type { Server } from 'node:http'
import { Server as NetServer, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

import type { ListenAddress } from '../config/sections/listen-address.js'
import { AppError, hasErrorCode, toError } from '../errors/app-error.js'
import { openFilesLimit } from '../lib/processes/system-limits.js'
import type { Admission } from './pipeline/admit-request.js'
import type { FindQuickly } from './pipeline/quick-routes.js'
import { ConnectionLimit } from './transport/connection-limit.js'
import { drainServer } from './drain-server.js'
import { openFastTransport } from './transport/fast/open-fast-transport.js'
import type { HandleRequest } from './transport/handle-request.js'
import { HalfBodies, MOST_HALF_BODY_BYTES } from './transport/half-bodies.js'
import { MOST_UNREAD_BYTES, UnreadAnswers } from './transport/unread-answers.js'
import { makeRequestIds } from './exchange/request-id.js'
import { REQUEST_TIMEOUTS } from './request-timeouts.js'
import { createStandardServer } from './transport/node/standard-server.js'
import type { Room } from './transport/node/standard-server.js'

/** A server that listens. */
export interface RunningServer {
  /** `http://127.0.0.1:8181`, with the port that was chosen where 0 was asked for. */
  readonly url: string
  /** What it listens on, which other processes may listen on too. */
  readonly listener: NetServer
  /** Takes no new requests, waits for those that run, and refuses what still runs after `drainMs`. */
  stop(drainMs: number): Promise<void>
}

/** Callers of one orchestrator keep some hundreds. */
const MAX_CONNECTIONS = 10_000
/** For databases, threads and requests to others: a process that has no more of them cannot keep what it acknowledges. */
const OTHER_FILES = 150
const LEAST_CONNECTIONS = 16

export interface ServerOptions {
  /** Where to listen, or what another process of the service listens on already. */
  readonly listenOn: ListenAddress | NetServer
  /** How many processes of the service listen on the same address, and share its bounds. */
  readonly processes?: number
  readonly takesHost: Admission['takesHost']
  readonly maxBodyBytes: number
  /** Finds the routes whose plain requests have a reader of their own in front of node's; undefined where none have. */
  readonly find: FindQuickly | undefined
}

/** Starts to listen. Raises `unavailable` when the address cannot be had. */
export async function startServer(
  handle: HandleRequest,
  { listenOn, processes = 1, takesHost, maxBodyBytes, find }: ServerOptions,
): Promise<RunningServer> {
  const requestIdFor = makeRequestIds()
  const connections = new ConnectionLimit(mostConnections(processes))
  const room: Room = {
    connections,
    halfBodies: new HalfBodies(maxBodyBytes, MOST_HALF_BODY_BYTES / processes),
    unreadAnswers: new UnreadAnswers(MOST_UNREAD_BYTES / processes),
  }
  const standard = createStandardServer(handle, { requestIdFor, timeouts: REQUEST_TIMEOUTS, room })
  const { server } = standard
  const fastTransport =
    find &&
    openFastTransport(server, { handle, find, requestIdFor, timeouts: REQUEST_TIMEOUTS, takesHost, room })
  connections.watch(server)
  await startListening(server, listenOn)
  return {
    url: urlOf(server),
    listener: server,
    stop: (drainMs) => drainServer(standard, fastTransport, drainMs),
  }
}

/** How many connections this process holds, one of so many. */
function mostConnections(processes: number): number {
  const spare = Math.max(LEAST_CONNECTIONS, openFilesLimit() - OTHER_FILES)
  return Math.min(Math.ceil(MAX_CONNECTIONS / processes), spare)
}

/**
 * Listens for a moment, so that an address that cannot be had is told before policies are compiled and databases are brought up to date.
 * Raises `unavailable` as the server itself would.
 */
export async function tryAddress(address: ListenAddress): Promise<void> {
  const server = createServer()
  await startListening(server, address)
  await new Promise((resolve) => server.close(resolve))
}

function startListening(server: NetServer, on: ServerOptions['listenOn']): Promise<void> {
  return new Promise((resolve, reject) => {
    if (on instanceof NetServer) {
      server.once('error', reject).listen(on, resolve)
      return
    }
    const { host, port } = on
    server.once('error', (raw) => reject(cannotListen(host, port, raw))).listen(port, host, resolve)
  })
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
