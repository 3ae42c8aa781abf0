import { chmodSync } from 'node:fs'
import { Server, createServer, connect } from 'node:net'
import { lstat, unlink } from 'node:fs/promises'

import type { ListenAddress, PortAddress } from '../config/sections/listen-address.js'
import { AppError, hasErrorCode, toError } from '../errors/app-error.js'

/** Default mode of a Unix socket: owner and group may connect. */
const SOCKET_MODE = 0o660

/**
 * Accept queue for thousands of simultaneous connections. The system limits it, too
 * (`net.core.somaxconn`).
 */
export const BACKLOG = 4096

/**
 * Listens at an address, or on a listener that another process opened. Removes the stale socket of
 * a killed process first. Raises `unavailable` if the address cannot be used.
 */
export async function startListening(
  server: Server,
  on: ListenAddress | Server,
  socketMode = SOCKET_MODE,
): Promise<void> {
  if (on instanceof Server) await listening(server, () => server.listen(on, BACKLOG))
  else if ('path' in on) await listenOnSocket(server, on.path, socketMode)
  else await listenOnPort(server, on)
}

/**
 * Listens briefly, so that an unusable address is reported before policies are compiled and
 * databases are migrated. Raises `unavailable`.
 */
export async function tryAddress(address: ListenAddress): Promise<void> {
  const server = createServer()
  await startListening(server, address)
  await new Promise((resolve) => server.close(resolve))
}

/** Returns the URL of a listening server: `http://127.0.0.1:8181`, or `unix:PATH` for a socket. */
export function addressOf(server: Server, isTls: boolean): string {
  const address = server.address()
  if (typeof address === 'string') return `unix:${address}`
  const { address: host, family, port } = address ?? { address: '', family: '', port: 0 }
  return `http${isTls ? 's' : ''}://${family === 'IPv6' ? `[${host}]` : host}:${port}`
}

async function listenOnPort(server: Server, { host, port }: PortAddress): Promise<void> {
  await listening(server, () => server.listen(port, host, BACKLOG)).catch((raw: unknown) => {
    const hint = hasErrorCode(raw, 'EADDRINUSE') ? ': another program uses the port' : ''
    throw cannotListen(`${host}:${port}`, hint, raw)
  })
}

async function listenOnSocket(server: Server, path: string, mode: number): Promise<void> {
  try {
    await removeStaleSocket(path)
    await listening(server, () => {
      server.listen(path, BACKLOG)
      // The socket exists now, and no connection is accepted before this turn ends.
      if (server.listening) chmodSync(path, mode)
    })
  } catch (raw) {
    throw cannotListen(
      `unix:${path}`,
      hasErrorCode(raw, 'EADDRINUSE') ? ': another program uses it' : '',
      raw,
    )
  }
}

function listening(server: Server, listen: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).once('listening', () => {
      server.off('error', reject)
      resolve()
    })
    listen()
  })
}

/** Returns the error for an unusable address. */
function cannotListen(address: string, hint: string, raw: unknown): AppError {
  const message = `cannot listen on ${address}${hint} (${toError(raw).message})`
  return new AppError('unavailable', message, { cause: raw })
}

const CONNECT_MS = 1000

/**
 * Removes the socket of a killed process. Raises `unavailable` if another process listens on it, or
 * if the path is not a socket.
 */
async function removeStaleSocket(path: string): Promise<void> {
  const stats = await lstat(path).catch((raw: unknown) => {
    if (hasErrorCode(raw, 'ENOENT')) return undefined
    throw raw
  })
  if (stats === undefined) return
  if (!stats.isSocket()) throw new AppError('unavailable', 'the path exists and is not a socket')
  if (!(await isStale(path))) throw new AppError('unavailable', 'another program listens there')
  await unlink(path).catch((raw: unknown) => {
    if (!hasErrorCode(raw, 'ENOENT')) throw raw
  })
}

/** Returns whether nobody listens. Only a refused connection proves it. */
function isStale(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const settle = (left: boolean): void => {
      socket.destroy()
      resolve(left)
    }
    socket.setTimeout(CONNECT_MS, () => settle(false))
    socket.once('connect', () => settle(false))
    socket.once('error', (raw) => settle(hasErrorCode(raw, 'ECONNREFUSED')))
  })
}
