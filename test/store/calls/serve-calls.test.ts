import { MessageChannel } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'

import { afterEach, expect, test } from 'vitest'

import { serveCalls } from '../../../src/store/calls/serve-calls.js'
import type { ServeOptions } from '../../../src/store/calls/serve-calls.js'
import type { CallConnection, StoreAnswer, StoreRequest } from '../../../src/store/calls/call.js'
import { AppError } from '../../../src/errors/app-error.js'
import { operationRegistry } from '../../../src/store/ports/operation.js'

interface Context {
  readonly base: number
}

const add = {
  name: 'test.add',
  apply: ({ base }: Context, more: number) => Promise.resolve(base + more),
}
const ports: MessagePort[] = []
afterEach(() => {
  for (const port of ports.splice(0)) port.close()
})

/** A store thread on the calling thread: the messages it receives and sends. */
function serve(connection: Partial<CallConnection<Context>>, more: Partial<ServeOptions<Context>> = {}) {
  const { port1, port2 } = new MessageChannel()
  ports.push(port2)
  const closings: string[] = []
  serveCalls<Context>(port1, {
    connect: () => ({
      execute: async (calls) =>
        await Promise.all(calls.map(async (call) => ({ ok: true, result: await call({ base: 40 }) }))),
      close: () => void closings.push('closed'),
      ...connection,
    }),
    operations: operationRegistry<Context>([add]),
    toError: (action) => new AppError('unavailable', `cannot ${action} the store`),
    ...more,
  })
  const ended = new Promise<void>((resolve) => port2.once('close', resolve))
  const answer = new Promise<StoreAnswer>((resolve) => port2.once('message', resolve))
  return { send: (request: StoreRequest) => port2.postMessage(request), answer, ended, closings }
}

test('a thread of the store runs the calls of a batch and answers with what came of each', async () => {
  const { send, answer } = serve({})
  send({ type: 'calls', calls: [2, 3].map((args) => ({ operation: 'test.add', args })) })
  expect(await answer).toEqual({
    type: 'outcomes',
    outcomes: [
      { ok: true, result: 42 },
      { ok: true, result: 43 },
    ],
  })
})

test('one that cannot connect says why', async () => {
  const { answer } = serve(
    {},
    {
      connect: () => {
        throw new Error('no file')
      },
    },
  )
  expect(await answer).toMatchObject({ type: 'refused', failure: { message: 'cannot open the store' } })
})

test('one whose connection raises beside the calls says so and ends, with its connection closed', async () => {
  const { send, answer, ended, closings } = serve({ execute: () => Promise.reject(new Error('torn')) })
  send({ type: 'calls', calls: [] })
  expect(await answer).toMatchObject({ type: 'refused', failure: { message: 'cannot use the store' } })
  await ended
  expect(closings).toEqual(['closed'])
})

test('one that is asked to close does, and ends', async () => {
  const { send, ended, closings } = serve({})
  send({ type: 'close' })
  await ended
  expect(closings).toEqual(['closed'])
})
