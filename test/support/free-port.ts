import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

/** A port of loopback that is free now, for programs that take no port 0 that they would tell of. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
