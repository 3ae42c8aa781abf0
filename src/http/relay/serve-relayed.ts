import type { IncomingMessage } from 'node:http'

import { makeRequestIds } from '../exchange/request-id.js'
import type { HandleRequest } from '../transport/handle-request.js'
import { HalfBodies } from '../transport/half-bodies.js'
import { UnreadAnswers } from '../transport/unread-answers.js'
import { createStandardServer } from '../transport/node/standard-server.js'
import type { Room } from '../transport/room.js'
import { drainServer } from '../drain-server.js'
import { REQUEST_TIMEOUTS } from '../request-timeouts.js'
import { CERTIFICATE_HEADER, TLS_HEADER, ORIGIN_HEADER, readCertificate } from './relay-request.js'
import { RelaySocket } from './relay-socket.js'

/** Answers what other processes of the service relay. */
export interface RelayedRequests {
  /** Whether other processes can reach it now. */
  readonly isReachable: () => boolean
  /** As the server's `stop`; to be called once nobody relays any more. */
  stop(drainMs: number): Promise<void>
}

/** Answers the requests that come at a socket of the file system, which nobody else may reach, and which is made again where it is removed. They wait with those that come to this process itself. Raises `unavailable` where there can be none. */
export async function serveRelayed(
  handle: HandleRequest,
  socketPath: string,
  maxBodyBytes: number,
  { requests, pages }: Pick<Room, 'requests' | 'pages'>,
): Promise<RelayedRequests> {
  const standard = createStandardServer(handle, {
    requestIdFor: makeRequestIds(),
    timeouts: REQUEST_TIMEOUTS,
    room: {
      halfBodies: new HalfBodies(maxBodyBytes),
      unreadAnswers: new UnreadAnswers(),
      // Only processes of the service connect, and each bounds its own callers.
      connections: { proven: () => undefined },
      ...{ requests, pages },
    },
    remoteAddressOf: (request) => headerOf(request, ORIGIN_HEADER),
    isTlsOf: (request) => headerOf(request, TLS_HEADER) !== undefined,
    certificateOf: (request) => readCertificate(headerOf(request, CERTIFICATE_HEADER)),
  })
  const socket = new RelaySocket(standard.server, socketPath)
  await socket.open()
  return {
    isReachable: () => socket.isReachable,
    stop: async (drainMs) => {
      await socket.leave()
      await drainServer(standard, drainMs)
    },
  }
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
