import type { Server, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

import type { ConnectionLimit } from '../connection-limit.js'

/** The connections of a TLS server on which no request can come yet, since both sides still agree on keys. */
export class Handshakes {
  /** By the port of the caller, which only one open connection has. */
  readonly #underWay = new Map<string, Socket>()
  readonly #limit: Pick<ConnectionLimit, 'becomes'>

  constructor(limit: Pick<ConnectionLimit, 'becomes'>) {
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
      this.#limit.becomes(socket, secure)
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
