import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'

import { PageQueue } from '../../../../src/http/transport/page-queue.js'
import { ConnectionLimit } from '../../../../src/http/transport/connection-limit.js'
import { PartialBodies } from '../../../../src/http/transport/partial-bodies.js'
import {
  REQUEST_TIMEOUTS,
  createStandardServer,
} from '../../../../src/http/transport/node/standard-server.js'
import { UnreadAnswers } from '../../../../src/http/transport/unread-answers.js'
import { RequestQueue } from '../../../../src/http/transport/request-queue.js'
import { waitUntil } from '../../../support/wait-until.js'

const SMALL = Buffer.alloc(100_000, 'a')
const LARGE = Buffer.alloc(30_000_000, 'b')

test('an answer that is begun at once behind another large one of its connection is counted until it is read', async () => {
  const unreadAnswers = new UnreadAnswers()
  let answered = 0
  const { server } = createStandardServer(
    (exchange) => {
      answered += 1
      exchange.send(200, exchange.target.path === '/small' ? SMALL : LARGE)
    },
    {
      requestIdFor: () => 'own',
      timeouts: REQUEST_TIMEOUTS,
      limits: {
        partialBodies: new PartialBodies(0),
        unreadAnswers,
        connections: new ConnectionLimit(10),
        requests: new RequestQueue(),
        pages: new PageQueue(),
      },
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.pause()
  socket.write('GET /small HTTP/1.1\r\nHost: a\r\n\r\nGET /large HTTP/1.1\r\nHost: a\r\n\r\n')
  await waitUntil(
    () => answered === 2 || undefined,
    () => 'the second one is not asked',
  )
  await setTimeout(100)
  expect(unreadAnswers.total).toBe(LARGE.length)
  socket.destroy()
  server.closeAllConnections()
  server.close()
})
