import type { RequestListener, Server, ServerOptions } from 'node:http'
import { createServer } from 'node:https'
import type { Server as SecureServer } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

import type { ConnectionLimit } from '../connection-limit.js'
import { contextOptions, serverOptions } from './tls-settings.js'
import type { TlsSettings } from './tls-settings.js'

/** TLS of a server. */
export interface ServerTls {
  readonly settings: TlsSettings
  /** Called for a failed handshake, whose connection is closed. */
  readonly failed: (error: Error, remoteAddress: string | undefined) => void
}

/**
 * The TLS part of a server. The server emits `secureConnection` for each connection after its
 * handshake.
 */
export class SecureListener {
  readonly #tls: ServerTls
  readonly #handshakeMs: number
  readonly #handshakes: Handshakes
  #server: SecureServer | undefined

  /** `handshakeMs` is the timeout of a handshake. */
  constructor(tls: ServerTls, handshakeMs: number, limit: ConnectionLimit) {
    this.#tls = tls
    this.#handshakeMs = handshakeMs
    this.#handshakes = new Handshakes(limit)
  }

  /** Creates the HTTPS server. */
  readonly create = (options: ServerOptions, listener: RequestListener): Server => {
    const { settings, failed } = this.#tls
    const server = createServer({ ...options, ...serverOptions(settings, this.#handshakeMs) }, listener)
    // Node's own listener would respond as if a request had arrived.
    server.removeAllListeners('tlsClientError').on('tlsClientError', (error: Error, socket: Socket) => {
      failed(error, socket.remoteAddress)
      socket.destroy()
    })
    this.#server = server
    return server
  }

  /** Must be called after the server's own connection listeners were added. */
  watch(): void {
    if (this.#server !== undefined) this.#handshakes.watch(this.#server)
  }

  /** Uses another certificate, key and CAs for new connections. Open connections continue. */
  renew(settings: TlsSettings): void {
    this.#server?.setSecureContext(contextOptions(settings))
  }

  /** Closes connections that are in the handshake. */
  endHandshakes(): void {
    this.#handshakes.end()
  }
}

/** Connections of a TLS server that are in the handshake. */
class Handshakes {
  /** By client address and port, which identify an open connection. */
  readonly #underWay = new Map<string, Socket>()
  readonly #limit: Pick<ConnectionLimit, 'upgraded'>

  constructor(limit: Pick<ConnectionLimit, 'upgraded'>) {
    this.#limit = limit
  }

  /** Must be called after the server's other listeners were added. */
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
  end(): void {
    for (const socket of this.#underWay.values()) socket.destroy()
  }
}

function callerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? ''}`
}
