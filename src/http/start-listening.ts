import { chmodSync } from 'node:fs'
import { Server, createServer, connect } from 'node:net'
import { lstat, unlink } from 'node:fs/promises'

import type { ListenAddress, PortAddress } from '../config/sections/listen-address.js'
import { AppError, hasErrorCode, toError } from '../errors/app-error.js'

/** Who may connect where nothing else is said: owner and group. */
const SOCKET_MODE = 0o660

/** Connections that may wait to be taken, so that thousands can come at once; the system has a bound of its own (`net.core.somaxconn`). */
export const BACKLOG = 4096

/**
 * Has a server listen at an address, or at what another process of the service listens on already. A socket that a killed process left
 * behind is taken away first. Raises `unavailable` when the address cannot be had.
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
 * Listens for a moment, so that an address that cannot be had is told before policies are compiled and databases are brought up to date.
 * Raises `unavailable` as the server itself would.
 */
export async function tryAddress(address: ListenAddress): Promise<void> {
  const server = createServer()
  await startListening(server, address)
  await new Promise((resolve) => server.close(resolve))
}

/** The URL of a server that listens: `http://127.0.0.1:8181`, or `unix:PATH` for a socket. */
export function addressOf(server: Server, isTls: boolean): string {
  const address = server.address()
  if (typeof address === 'string') return `unix:${address}`
  const { address: host, family, port } = address ?? { address: '', family: '', port: 0 }
  return `http${isTls ? 's' : ''}://${family === 'IPv6' ? `[${host}]` : host}:${port}`
}

async function listenOnPort(server: Server, { host, port }: PortAddress): Promise<void> {
  await listening(server, () => server.listen(port, host, BACKLOG)).catch((raw: unknown) => {
    const hint = hasErrorCode(raw, 'EADDRINUSE') ? ': another program has the port' : ''
    throw cannotListen(`${host}:${port}`, hint, raw)
  })
}

async function listenOnSocket(server: Server, path: string, mode: number): Promise<void> {
  try {
    await removeStaleSocket(path)
    await listening(server, () => {
      server.listen(path, BACKLOG)
      // It is there by now, and nobody is taken from it before this turn ends.
      if (server.listening) chmodSync(path, mode)
    })
  } catch (raw) {
    throw cannotListen(`unix:${path}`, hasErrorCode(raw, 'EADDRINUSE') ? ': another program has it' : '', raw)
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

/** What to tell when an address cannot be had. */
function cannotListen(address: string, hint: string, raw: unknown): AppError {
  const message = `cannot listen on ${address}${hint} (${toError(raw).message})`
  return new AppError('unavailable', message, { cause: raw })
}

const CONNECT_MS = 1000

/**
 * Takes away the socket that a killed process left at a path. Raises `unavailable` where somebody listens on it, or where something else is
 * there, which is left alone.
 */
export async function removeStaleSocket(path: string): Promise<void> {
  const stats = await lstat(path).catch((raw: unknown) => {
    if (hasErrorCode(raw, 'ENOENT')) return undefined
    throw raw
  })
  if (stats === undefined) return
  if (!stats.isSocket()) throw new AppError('unavailable', 'something that is no socket is there already')
  if (!(await isStale(path))) throw new AppError('unavailable', 'another program listens there')
  await unlink(path).catch((raw: unknown) => {
    if (!hasErrorCode(raw, 'ENOENT')) throw raw
  })
}

/** Whether nobody listens: whatever else keeps us from connecting says nothing. */
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
