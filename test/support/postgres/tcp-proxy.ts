import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** A port of loopback that leads to another one, over a network that can be made bad. */
export interface TcpProxy {
  readonly port: number
  /** How much later each piece arrives, in milliseconds; in both directions. */
  readonly delay: (ms: number) => void
  /** Blocks all traffic silently, or releases the blocked and further traffic. */
  readonly cut: (isCut: boolean) => void
  readonly close: () => Promise<void>
}

const LOOK_MS = 20

/** Listens on loopback in front of a port of loopback. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  let delayMs = 0
  let isCut = false
  const sockets = new Set<Socket>()
  const forward = async (from: Socket, to: Socket): Promise<void> => {
    try {
      for await (const piece of from) {
        if (delayMs > 0) await wait(delayMs)
        while (isCut && !to.destroyed) await wait(LOOK_MS)
        to.write(piece as Buffer)
      }
    } catch {
      // Broken on one side: on the other, too.
    }
    while (isCut && !to.destroyed) await wait(LOOK_MS)
    to.destroy()
  }
  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1')
    for (const socket of [client, target]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => sockets.delete(socket))
    }
    void forward(client, target)
    void forward(target, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    delay: (ms) => {
      delayMs = ms
    },
    cut: (value) => {
      isCut = value
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
