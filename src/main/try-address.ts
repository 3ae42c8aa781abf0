import { createServer } from 'node:net'

import type { ListenAddress } from '../config/sections/listen-address.js'
import { cannotListen } from '../http/server.js'

/**
 * Listens for a moment, so that an address that cannot be had is told before policies are compiled and databases are brought up to date.
 * Raises `unavailable` as the server itself would.
 */
export async function tryAddress({ host, port }: ListenAddress): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', (raw) => reject(cannotListen(host, port, raw)))
    server.listen(port, host, resolve)
  })
  await new Promise((resolve) => server.close(resolve))
}
