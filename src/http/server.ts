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

/** A server that listens. */
export interface RunningServer {
  /** `http://127.0.0.1:8181`, with the port that was chosen where 0 was asked for; `unix:PATH` for a socket. */
  readonly url: string
  /** What it listens on, which other processes may listen on too. */
  readonly listener: NetServer
  /** Has new connections use another certificate; nothing where it speaks no TLS. */
  renewTls(settings: TlsSettings): void
  /** Takes no new requests, waits for those that run, and refuses what still runs after `drainMs`. */
  stop(drainMs: number): Promise<void>
}

/** Callers of one orchestrator keep some hundreds. */
const MAX_CONNECTIONS = 10_000
/** For databases, threads and requests to others: a process that has no more of them cannot keep what it acknowledges. */
const RESERVED_FILES = 150
const MIN_CONNECTIONS = 16
/** How many files a process of the service must be allowed to have open: its own, and a few connections. */
export const MIN_FILES = RESERVED_FILES + MIN_CONNECTIONS

/** What the servers of one process take in at once, all together. */
export interface ServerLimits extends TransportLimits {
  readonly connections: ConnectionLimit
}

/** The room of one of `processes` that share the bounds of the service. */
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
  /** Where to listen, or what another process of the service listens on already. */
  readonly listenOn: ListenAddress | NetServer
  /** The mode of the socket, where it listens on one. */
  readonly socketMode?: number
  readonly limits: ServerLimits
  readonly tls?: ServerTls | undefined
}

/** Starts to listen. Raises `unavailable` when the address cannot be had. */
export async function startServer(
  handle: HandleRequest,
  { listenOn, socketMode, limits: room, tls }: ServerOptions,
): Promise<RunningServer> {
  const requestIdFor = makeRequestIds()
  const comesAs = tls === undefined ? 'connection' : 'secureConnection'
  const secure = tls && (await openSecureListener(tls, room))
  const standard = createStandardServer(handle, {
    ...{ requestIdFor, timeouts: REQUEST_TIMEOUTS, limits: room, connectionEvent: comesAs },
    ...(secure !== undefined && { create: secure.create }),
  })
  const { server } = standard
  secure?.watch()
  room.connections.watch(server)
  await startListening(server, listenOn, socketMode)
  return {
    url: addressOf(server, tls !== undefined),
    listener: server,
    renewTls: (settings) => secure?.renew(settings),
    stop: (drainMs) => drainServer(standard, drainMs, secure),
  }
}

/** Loaded where it is needed: most services have a proxy or a mesh for it. */
async function openSecureListener(tls: ServerTls, { connections }: ServerLimits): Promise<SecureListener> {
  const listener = await import('./transport/tls/secure-listener.js')
  return new listener.SecureListener(tls, REQUEST_TIMEOUTS.headersMs, connections)
}

/**
 * How many connections this process holds, one of so many. Each of a worker may be relayed, which takes it another file, and the main process
 * one for each connection of every worker.
 */
function maxConnectionsPerProcess(processes: number): number {
  const filesEach = processes === 1 ? 1 : Math.max(2, processes)
  const spare = Math.max(MIN_CONNECTIONS, Math.floor((openFilesLimit() - RESERVED_FILES) / filesEach))
  return Math.min(Math.ceil(MAX_CONNECTIONS / processes), spare)
}
