import type { RequestListener, Server, ServerOptions } from 'node:http'
import { createServer } from 'node:https'
import type { Server as SecureServer } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

import type { ConnectionLimit } from '../connection-limit.js'
import { contextOptions, serverOptions } from './tls-settings.js'
import type { TlsSettings } from './tls-settings.js'

/** How a server speaks TLS. */
export interface ServerTls {
  readonly settings: TlsSettings
  /** Told of a caller with whom there is no agreement on keys, who is sent away. */
  readonly failed: (error: Error, remoteAddress: string | undefined) => void
}

/** The part of a server that speaks TLS: connections on which requests can come are its event `secureConnection`. */
export class SecureListener {
  readonly #tls: ServerTls
  readonly #handshakeMs: number
  readonly #handshakes: Handshakes
  #server: SecureServer | undefined

  /** `handshakeMs` is how long both sides may take to agree on keys. */
  constructor(tls: ServerTls, handshakeMs: number, limit: ConnectionLimit) {
    this.#tls = tls
    this.#handshakeMs = handshakeMs
    this.#handshakes = new Handshakes(limit)
  }

  /** Makes the server, in place of node's that speaks plain HTTP. */
  readonly create = (options: ServerOptions, listener: RequestListener): Server => {
    const { settings, failed } = this.#tls
    const server = createServer({ ...options, ...serverOptions(settings, this.#handshakeMs) }, listener)
    // Node's own would answer as if a request had come.
    server.removeAllListeners('tlsClientError').on('tlsClientError', (error: Error, socket: Socket) => {
      failed(error, socket.remoteAddress)
      socket.destroy()
    })
    this.#server = server
    return server
  }

  /** To be called once all listeners that read connections are in place. */
  watch(): void {
    if (this.#server !== undefined) this.#handshakes.watch(this.#server)
  }

  /** Has new connections use another certificate, key and authorities; those that are open go on. */
  renew(settings: TlsSettings): void {
    this.#server?.setSecureContext(contextOptions(settings))
  }

  /** Ends the connections on which both sides still agree on keys. */
  endHandshakes(): void {
    this.#handshakes.end()
  }
}

/** The connections of a TLS server on which no request can come yet, since both sides still agree on keys. */
export class Handshakes {
  /** By the port of the caller, which only one open connection has. */
  readonly #underWay = new Map<string, Socket>()
  readonly #limit: Pick<ConnectionLimit, 'upgraded'>

  constructor(limit: Pick<ConnectionLimit, 'upgraded'>) {
    this.#limit = limit
  }

  /** To be called once all other listeners of the server are in place. */
  watch(server: Server): void {
    server.prependListener('connection', (socket: Socket) => {
      const caller = callerOf(socket)
      this.#underWay.set(caller, socket)
      socket.once('close', () => {
        if (this.#underWay.get(caller) === socket) this.#underWay.delete(caller)
      })
    })
    server.prependListener('secureConnection', (secure: TLSSocket) => {
      const caller = callerOf(secure)
      const socket = this.#underWay.get(caller)
      if (socket === undefined) return
      this.#underWay.delete(caller)
      this.#limit.upgraded(socket, secure)
    })
  }

  /** Ends those that are under way. */
  end(): void {
    for (const socket of this.#underWay.values()) socket.destroy()
  }
}

function callerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? ''}`
}
