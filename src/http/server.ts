import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { AppError, toError } from '../errors.js'
import { refuseConnection } from './refuse-connection.js'

/** A server that listens. */
export interface RunningServer {
  /** `http://127.0.0.1:8181`, with the port that was chosen where 0 was asked for. */
  readonly url: string
  /** Takes no new requests, waits for those that run, and cuts what still runs after `drainMs`. */
  stop(drainMs: number): Promise<void>
}

/** A caller that is slow to send its headers must not hold a connection for ever. */
const HEADERS_TIMEOUT_MS = 20_000
const REQUEST_TIMEOUT_MS = 120_000
/** Longer than the idle time of the usual load balancers, so that they and not we close a connection. */
const KEEP_ALIVE_MS = 75_000

/** Starts to listen. Raises `unavailable` when the address cannot be had. */
export async function startServer(
  listener: RequestListener,
  host: string,
  port: number,
): Promise<RunningServer> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    listener,
  )
  server.on('clientError', refuseConnection)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (raw) => reject(cannotListen(host, port, raw)))
    server.listen(port, host, resolve)
  })
  return { url: urlOf(server), stop: (drainMs) => stop(server, drainMs) }
}

function stop(server: Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), drainMs)
    server.close(() => {
      clearTimeout(deadline)
      resolve()
    })
    server.closeIdleConnections()
  })
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

function cannotListen(host: string, port: number, raw: unknown): AppError {
  const error = toError(raw)
  const hint = 'code' in error && error.code === 'EADDRINUSE' ? ': another program has the port' : ''
  return new AppError('unavailable', `cannot listen on ${host}:${port}${hint} (${error.message})`, {
    cause: raw,
  })
}
