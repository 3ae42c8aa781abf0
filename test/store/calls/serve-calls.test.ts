import { MessageChannel } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'

import { afterEach, expect, test } from 'vitest'

import { serveCalls } from '../../../src/store/calls/serve-calls.js'
import type { ServeOptions } from '../../../src/store/calls/serve-calls.js'
import type { CallConnection, StoreAnswer, StoreRequest } from '../../../src/store/calls/call.js'
import { AppError } from '../../../src/errors/app-error.js'

const ports: MessagePort[] = []
afterEach(() => {
  for (const port of ports.splice(0)) port.close()
})

/** Runs the loop of a store thread on this thread. Returns its port and the posted messages. */
function serve(connection: Partial<CallConnection>, more: Partial<ServeOptions> = {}) {
  const { port1, port2 } = new MessageChannel()
  ports.push(port2)
  const closings: string[] = []
  serveCalls(port1, {
    connect: () => ({
      execute: (calls) => Promise.resolve(calls.map(({ args }) => ({ ok: true, result: 40 + Number(args) }))),
      close: () => {
        closings.push('closed')
        return Promise.resolve()
      },
      ...connection,
    }),
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

test('one whose connection raises next to the calls says so and ends, with its connection closed', async () => {
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
