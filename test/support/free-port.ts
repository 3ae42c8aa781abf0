import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

/** Returns a free loopback port, for programs that do not report the port chosen for 0. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
