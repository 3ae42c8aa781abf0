import type { Server as NetServer } from 'node:net'

import type { ListenAddress } from '../config/sections/listen-address.js'
import { openFilesLimit } from '../lib/processes/system-limits.js'
import { ConnectionLimit } from './transport/connection-limit.js'
import { drainServer } from './drain-server.js'
import { addressOf, startListening } from './start-listening.js'
import type { HandleRequest } from './transport/handle-request.js'
import { PartialBodies, MAX_PARTIAL_BODY_BYTES } from './transport/partial-bodies.js'
import { MAX_UNREAD_BYTES, UnreadAnswers } from './transport/unread-answers.js'
import { makeRequestIds } from './exchange/request-id.js'
import { REQUEST_TIMEOUTS, createStandardServer } from './transport/node/standard-server.js'
import { PageQueue } from './transport/page-queue.js'
import { RequestQueue } from './transport/request-queue.js'
import type { TransportLimits } from './transport/transport-limits.js'
import type { SecureListener, ServerTls } from './transport/tls/secure-listener.js'
import type { TlsSettings } from './transport/tls/tls-settings.js'
export interface RunningServer {
  /** `http://127.0.0.1:8181` with the actual port, or `unix:PATH`. */
  readonly url: string
  /** The listener, which other processes can share. */
  readonly listener: NetServer
  /** Uses another certificate for new connections. Does nothing without TLS. */
  renewTls(settings: TlsSettings): void
  /**
   * Accepts no new requests, waits for running ones, and refuses those still running after
   * `drainMs`.
   */
  stop(drainMs: number): Promise<void>
}

/** One orchestrator keeps a few hundred connections. */
const MAX_CONNECTIONS = 10_000
/**
 * Files reserved for databases, threads and outgoing requests. Without them the process could not
 * store what it acknowledges.
 */
const RESERVED_FILES = 150
const MIN_CONNECTIONS = 16
/** Minimum open-file limit of a process. */
export const MIN_FILES = RESERVED_FILES + MIN_CONNECTIONS

/** Shared limits of all servers in a process. */
export interface ServerLimits extends TransportLimits {
  readonly connections: ConnectionLimit
}

/**
 * Creates the limits of one of `processes` worker processes, which share the limits of the service.
 */
export function makeServerLimits(
  maxBodyBytes: number,
  processes = 1,
  maxConnections = maxConnectionsPerProcess(processes),
): ServerLimits {
  return {
    connections: new ConnectionLimit(maxConnections),
    partialBodies: new PartialBodies(maxBodyBytes, MAX_PARTIAL_BODY_BYTES / processes),
    unreadAnswers: new UnreadAnswers(MAX_UNREAD_BYTES / processes),
    requests: new RequestQueue(),
    pages: new PageQueue(),
  }
}

export interface ServerOptions {
  /** Address, or a listener that another process opened. */
  readonly listenOn: ListenAddress | NetServer
  /** File mode of a Unix socket. */
  readonly socketMode?: number
  readonly limits: ServerLimits
  readonly tls?: ServerTls | undefined
}

/** Starts listening. Raises `unavailable` if the address cannot be used. */
export async function startServer(
  handle: HandleRequest,
  { listenOn, socketMode, limits, tls }: ServerOptions,
): Promise<RunningServer> {
  const requestIdFor = makeRequestIds()
  const connectionEvent = tls === undefined ? 'connection' : 'secureConnection'
  const secure = tls && (await openSecureListener(tls, limits))
  const standard = createStandardServer(handle, {
    ...{ requestIdFor, timeouts: REQUEST_TIMEOUTS, limits, connectionEvent },
    ...(secure !== undefined && { create: secure.create }),
  })
  const { server } = standard
  secure?.watch()
  limits.connections.watch(server)
  await startListening(server, listenOn, socketMode)
  return {
    url: addressOf(server, tls !== undefined),
    listener: server,
    renewTls: (settings) => secure?.renew(settings),
    stop: (drainMs) => drainServer(standard, drainMs, secure),
  }
}

/** Loaded on demand, since most services run behind a proxy or mesh. */
async function openSecureListener(tls: ServerTls, { connections }: ServerLimits): Promise<SecureListener> {
  const listener = await import('./transport/tls/secure-listener.js')
  return new listener.SecureListener(tls, REQUEST_TIMEOUTS.headersMs, connections)
}

/**
 * Returns the connection limit of one process. In a worker process each connection may need a
 * second file for its relay, and the main process needs one for each relayed connection.
 */
function maxConnectionsPerProcess(processes: number): number {
  const filesEach = processes === 1 ? 1 : Math.max(2, processes)
  const spare = Math.max(MIN_CONNECTIONS, Math.floor((openFilesLimit() - RESERVED_FILES) / filesEach))
  return Math.min(Math.ceil(MAX_CONNECTIONS / processes), spare)
}
