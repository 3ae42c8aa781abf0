import type { Server } from 'node:http'
import type { Socket } from 'node:net'

import type { AppError } from '../../../errors/app-error.js'
import { BROWSER_HEADERS } from '../../pipeline/admit-request.js'
import type { HandleRequest } from '../handle-request.js'
import type { HalfBodies } from '../half-bodies.js'
import type { UnreadAnswers } from '../unread-answers.js'
import type { WaitingLine } from '../waiting-line.js'
import { parseRequestTarget } from '../../exchange/exchange.js'
import type { FindQuickly } from '../../pipeline/quick-routes.js'
import type { RequestTimeouts } from '../node/standard-server.js'
import type { Room } from '../room.js'
import { PlainConnection } from './plain-connection.js'
import type { ConnectionHost } from './plain-connection.js'
import type { PlainHead } from './read-plain-head.js'
import { RecentHeads } from './recent-heads.js'

/** Larger requests take so long to decide that the standard server's share of the time does not matter. */
const MAX_BODY_BYTES = 65_536
const MS_PER_SECOND = 1000

export interface FastTransportOptions {
  readonly handle: HandleRequest
  /** Finds the routes whose requests it takes. */
  readonly find: FindQuickly
  readonly requestIdFor: (claimed: string | undefined) => string
  readonly timeouts: RequestTimeouts
  /** Whether requests with this Host header are let in. */
  readonly takesHost: (header: string) => boolean
  readonly room: Room & { readonly line: WaitingLine }
  /** The event by which connections come on which requests can be read. */
  readonly comesAs?: 'connection' | 'secureConnection'
}

/** The connections of a server that send nothing but plain requests to the routes that are found quickly. */
export interface FastTransport {
  /** From now on each answer says that it is the last of its connection, and ends it. */
  drain(): void
  /** Ends the connections that are between two requests. */
  endIdle(): void
  /** Answers every request that has no answer yet with an error. */
  refuseAll(error: AppError): void
  /** Ends all connections at once. */
  destroy(): void
}

type ConnectionListener = (this: Server, socket: Socket) => void

/**
 * Puts a fast transport before a server: each new connection starts in it and stays as long as it sends plain requests to the
 * routes that are found quickly (policy operations, events and probes), one at a time (see `readPlainHead`). With the first byte that is anything else the connection goes to the
 * server's own listener, which reads that request from its beginning and keeps the connection.
 */
export function openFastTransport(server: Server, options: FastTransportOptions): FastTransport {
  const { comesAs = 'connection' } = options
  const standard = server.listeners(comesAs) as ConnectionListener[]
  server.removeAllListeners(comesAs)
  const connections = new Set<PlainConnection>()
  const listener = new FastListener(options, connections, (socket, unread) => {
    socket.pause()
    socket.unshift(unread)
    for (const listener of standard) listener.call(server, socket)
    socket.resume()
  })
  server.on(comesAs, (socket: Socket) => {
    listener.line.accepted()
    connections.add(new PlainConnection(socket, listener))
  })
  const sweeps = setInterval(() => listener.sweep(), MS_PER_SECOND).unref()
  server.once('close', () => clearInterval(sweeps))
  return {
    drain: () => {
      listener.isDraining = true
    },
    endIdle: () => listener.endIdle(),
    refuseAll: (error) => connections.forEach((connection) => connection.refuse(error)),
    destroy: () => connections.forEach((connection) => connection.destroy()),
  }
}

class FastListener implements ConnectionHost {
  readonly keepAliveMs: number
  readonly stalledMs: number
  readonly requestIdFor: ConnectionHost['requestIdFor']
  readonly line: WaitingLine
  readonly answer: ConnectionHost['answer']
  readonly halfBodies: HalfBodies
  readonly unreadAnswers: UnreadAnswers
  readonly proven: ConnectionHost['proven']
  tick = 0
  isDraining = false
  readonly #options: FastTransportOptions
  readonly #connections: Set<PlainConnection>
  readonly #recentHeads = new RecentHeads()
  readonly #toStandard: (socket: Socket, unread: Buffer) => void

  constructor(
    options: FastTransportOptions,
    connections: Set<PlainConnection>,
    toStandard: (socket: Socket, unread: Buffer) => void,
  ) {
    this.#options = options
    this.#connections = connections
    this.#toStandard = toStandard
    this.keepAliveMs = options.timeouts.keepAliveMs
    this.stalledMs = options.timeouts.stalledMs
    this.requestIdFor = options.requestIdFor
    this.answer = options.handle
    this.line = options.room.line
    this.halfBodies = options.room.halfBodies
    this.unreadAnswers = options.room.unreadAnswers
    this.proven = (socket) => options.room.connections.proven(socket)
  }

  readHead(bytes: Buffer): PlainHead | undefined {
    return this.#recentHeads.read(bytes, (head) => this.#takes(head))
  }

  #takes({ method, url, headers, bodyLength }: PlainHead): boolean {
    if (bodyLength > MAX_BODY_BYTES) return false
    // What may have to be refused is the request handler's to refuse, on the standard transport.
    if (!this.#options.takesHost(headers.get('host') ?? '')) return false
    if (BROWSER_HEADERS.some((name) => headers.has(name))) return false
    return this.#options.find(method, parseRequestTarget(url).path) !== undefined
  }

  waits({ method, url }: PlainHead): boolean {
    return this.#options.find(method, parseRequestTarget(url).path)?.isProbe !== true
  }

  handOver(connection: PlainConnection, socket: Socket, unread: Buffer): void {
    this.#connections.delete(connection)
    this.#toStandard(socket, unread)
  }

  closed(connection: PlainConnection): void {
    this.#connections.delete(connection)
  }

  endIdle(): void {
    for (const connection of this.#connections) {
      const { state } = connection.standing
      if (state === 'new' || state === 'waiting') connection.end()
    }
  }

  /** One look at all connections a second is cheaper than a timer for each request. */
  sweep(): void {
    this.tick += 1
    for (const connection of this.#connections) this.#endLate(connection)
  }

  #endLate(connection: PlainConnection): void {
    const { state, ticks, isSending } = connection.standing
    if (isSending) return
    const ms = ticks * MS_PER_SECOND
    const { headersMs, requestMs, keepAliveMs } = this.#options.timeouts
    if (state === 'new' && ms > headersMs) connection.refuseLate()
    else if (state === 'reading' && ms > requestMs) connection.refuseLate()
    else if (state === 'waiting' && ms > keepAliveMs) connection.destroy()
    else if (state === 'ending' && ms > headersMs) connection.destroy()
  }
}
