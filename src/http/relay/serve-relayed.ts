import type { IncomingMessage, Server } from 'node:http'
import { lstat, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

import { makeRequestIds } from '../exchange/request-id.js'
import type { HandleRequest } from '../transport/handle-request.js'
import { PartialBodies } from '../transport/partial-bodies.js'
import { UnreadAnswers } from '../transport/unread-answers.js'
import { createStandardServer, REQUEST_TIMEOUTS } from '../transport/node/standard-server.js'
import type { TransportLimits } from '../transport/transport-limits.js'
import { drainServer } from '../drain-server.js'
import { CERTIFICATE_HEADER, TLS_HEADER, ORIGIN_HEADER, readCertificate } from './relay-request.js'
import { AppError } from '../../errors/app-error.js'
import { BACKLOG } from '../start-listening.js'

/** Server for requests that other processes of the service relay. */
export interface RelayedRequests {
  /** True if other processes can connect. */
  readonly isReachable: () => boolean
  /** Drains the server. Must be called after all other processes stopped relaying. */
  stop(drainMs: number): Promise<void>
}

/**
 * Serves relayed requests on a private Unix socket, which is recreated if it is removed. They share
 * the queues of this process. Raises `unavailable` if the socket cannot be created.
 */
export async function serveRelayed(
  handle: HandleRequest,
  socketPath: string,
  maxBodyBytes: number,
  { requests, pages }: Pick<TransportLimits, 'requests' | 'pages'>,
): Promise<RelayedRequests> {
  const standard = createStandardServer(handle, {
    requestIdFor: makeRequestIds(),
    timeouts: REQUEST_TIMEOUTS,
    limits: {
      partialBodies: new PartialBodies(maxBodyBytes),
      unreadAnswers: new UnreadAnswers(),
      // Only processes of the service connect, and each limits its own clients.
      connections: { requestReceived: () => undefined },
      ...{ requests, pages },
    },
    remoteAddressOf: (request) => headerOf(request, ORIGIN_HEADER),
    isTlsOf: (request) => headerOf(request, TLS_HEADER) !== undefined,
    certificateOf: (request) => readCertificate(headerOf(request, CERTIFICATE_HEADER)),
  })
  const socket = new RelaySocket(standard.server, socketPath)
  await socket.open()
  return {
    isReachable: () => socket.isReachable,
    stop: async (drainMs) => {
      await socket.leave()
      await drainServer(standard, drainMs)
    },
  }
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** Interval between checks that the socket still exists, in milliseconds. */
const POLL_MS = 1000

/**
 * A server on a Unix socket that listens again after its file was removed, for example by a cleanup
 * job.
 */
export class RelaySocket {
  readonly #server: Server
  readonly #path: string
  /** Inode of the socket; undefined if it was removed before it could be read. */
  #inode: number | undefined
  /** Owner of the socket's directory. */
  #owner: number | undefined
  #isReachable = false
  #polling: NodeJS.Timeout | undefined
  #pendingPoll: Promise<void> = Promise.resolve()

  constructor(server: Server, path: string) {
    this.#server = server
    this.#path = path
  }

  get isReachable(): boolean {
    return this.#isReachable
  }

  /** Raises `unavailable` if it cannot listen. */
  async open(): Promise<void> {
    await this.#listen()
    this.#owner = await ownerOf(dirname(this.#path))
    const look = (): void => void (this.#pendingPoll = this.#pendingPoll.then(() => this.#poll()))
    this.#polling = setInterval(look, POLL_MS).unref()
  }

  /** Stops the checks. The caller closes the server. */
  async leave(): Promise<void> {
    clearInterval(this.#polling)
    await this.#pendingPoll
  }

  async #poll(): Promise<void> {
    if (this.#isReachable && this.#inode !== undefined && (await inodeAt(this.#path)) === this.#inode) return
    this.#isReachable = false
    // Running requests continue; idle connections end, and worker processes reconnect.
    this.#server.close()
    try {
      const folder = dirname(this.#path)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      // Another user who created the directory first could impersonate either side.
      if ((await ownerOf(folder)) === this.#owner) await this.#listen()
    } catch {
      // Retried at the next check.
    }
  }

  async #listen(): Promise<void> {
    const server = this.#server
    await new Promise<void>((resolve, reject) => {
      const fails = (cause: Error): void => {
        server.off('listening', listens)
        reject(cannotListen(cause))
      }
      const listens = (): void => {
        server.off('error', fails)
        resolve()
      }
      server.once('error', fails).once('listening', listens).listen(this.#path, BACKLOG)
    })
    this.#inode = await inodeAt(this.#path)
    this.#isReachable = true
  }
}

/** Returns the owner of a directory; undefined for anything else, including a symbolic link. */
async function ownerOf(path: string): Promise<number | undefined> {
  const stats = await lstat(path)
  return stats.isDirectory() ? stats.uid : undefined
}

/** Returns undefined if there is no file. */
async function inodeAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).ino
  } catch {
    return undefined
  }
}

function cannotListen(cause: Error): AppError {
  return new AppError('unavailable', `cannot listen for other processes of the service: ${cause.message}`, {
    cause,
  })
}
