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

/** Answers what other processes of the service relay. */
export interface RelayedRequests {
  /** Whether other processes can reach it now. */
  readonly isReachable: () => boolean
  /** As the server's `stop`; to be called once nobody relays any more. */
  stop(drainMs: number): Promise<void>
}

/** Answers the requests that come at a socket of the file system, which nobody else may reach, and which is made again where it is removed. They wait with those that come to this process itself. Raises `unavailable` where there can be none. */
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
      // Only processes of the service connect, and each bounds its own callers.
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

/** How often it looks whether the socket is still at its path, in milliseconds. */
const POLL_MS = 1000

/** Has a server listen at a path of the file system, and again where something that tidies up has removed it. */
export class RelaySocket {
  readonly #server: Server
  readonly #path: string
  /** Of the socket; undefined where it was removed before it could be looked at. */
  #inode: number | undefined
  /** Of the folder that it is in. */
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

  /** Raises `unavailable` where it cannot listen there. */
  async open(): Promise<void> {
    await this.#listen()
    this.#owner = await ownerOf(dirname(this.#path))
    const look = (): void => void (this.#pendingPoll = this.#pendingPoll.then(() => this.#poll()))
    this.#polling = setInterval(look, POLL_MS).unref()
  }

  /** From now on the server is its caller's to close. */
  async leave(): Promise<void> {
    clearInterval(this.#polling)
    await this.#pendingPoll
  }

  async #poll(): Promise<void> {
    if (this.#isReachable && this.#inode !== undefined && (await inodeAt(this.#path)) === this.#inode) return
    this.#isReachable = false
    // Running requests continue; idle connections end, and workers open others.
    this.#server.close()
    try {
      const folder = dirname(this.#path)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      // In a folder of another user, who made it first, that user could take the place of either side.
      if ((await ownerOf(folder)) === this.#owner) await this.#listen()
    } catch {
      // The next look tries again.
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

/** The user that a folder belongs to; undefined for anything else, a link to a folder included. */
async function ownerOf(path: string): Promise<number | undefined> {
  const stats = await lstat(path)
  return stats.isDirectory() ? stats.uid : undefined
}

/** Undefined where there is nothing. */
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
