import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, it } from 'vitest'
import { makeOutboundClient } from '../../src/lib/outbound/outbound-client.js'
import { JournaledAttempts, UNNOTED_ATTEMPTS } from '../../src/lib/work-attempts.js'
import type { WorkAttempts } from '../../src/lib/work-attempts.js'
import { makeCallbackSigner } from '../../src/outbox/callback-signature.js'
import { leaseMessages, listMessages, resendMessage } from '../../src/outbox/outbox-operations.js'
import { OutboxSender, makeHttpChannel } from '../../src/outbox/sender.js'
import type { OutboxMessage, OutboxProgress, StoredMessage } from '../../src/store/ports/outbox-store.js'
import type { WriteOperation } from '../../src/store/ports/transaction.js'
import { startReceiver } from '../support/receiver.js'
import type { Receiver } from '../support/receiver.js'
import { isShared, useServiceStore } from '../support/service-store.js'
import type { TestStore } from '../support/service-store.js'
import { waitUntil } from '../support/wait-until.js'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const START_MS = Date.now()

const enqueue: WriteOperation<OutboxMessage, number> = {
  name: 'test.enqueue',
  apply: ({ outbox }, message) => outbox.enqueue(message),
}

const openStore = useServiceStore()
const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A sender whose clock and timers the test controls. */
async function openSender(store?: TestStore, noted: WorkAttempts = UNNOTED_ATTEMPTS) {
  const { writer, reader, dataDir, close } = store ?? (await openStore())
  const client = makeOutboundClient({ allowLoopback: true, allowPrivate: false })
  const clock = { nowMs: START_MS }
  const timers: (() => void)[] = []
  const attempts: OutboxProgress[] = []
  const channel = makeHttpChannel(client, makeCallbackSigner(SECRET))
  const sender = new OutboxSender({
    writer,
    channels: {
      'gate.callback': channel,
      'webhook.relay': channel,
      'analysis.notification': channel,
      notification: channel,
    },
    policy: { firstRetryMs: 1000, maxRetryMs: 8000, giveUpAfterMs: 60_000 },
    attempts: noted,
    timeoutMs: 5000,
    limitPerReceiver: 2,
    now: () => clock.nowMs,
    random: () => 0.999,
    setTimer: (callback) => {
      timers.push(callback)
      return () => timers.splice(timers.indexOf(callback), 1)
    },
    attempted: (_, progress) => attempts.push(progress),
    failed: (error) => {
      throw error
    },
  })
  closers.push(async () => {
    await sender.stop()
    await client.close()
  })
  return {
    dataDir,
    close,
    sender,
    writer,
    attempts,
    send: (url: string, body = '{}') =>
      writer.run(enqueue, {
        topic: 'gate.callback',
        url,
        body,
        subject: 'gate-instance:1',
        createdMs: clock.nowMs,
      }),
    list: (): Promise<readonly StoredMessage[]> => reader.run(listMessages, { limit: 100 }),
    settled: (count: number) =>
      waitUntil(
        () => (attempts.length >= count ? attempts : undefined),
        () => `${attempts.length} of ${count} attempts were recorded`,
      ),
    advance: async (ms: number) => {
      await waitUntil(
        () => timers.length > 0 || undefined,
        () => 'no timer was set',
      )
      clock.nowMs += ms
      for (const fire of timers.splice(0)) fire()
    },
  }
}

async function receiver(...args: Parameters<typeof startReceiver>): Promise<Receiver> {
  const started = await startReceiver(...args)
  closers.push(started.close)
  return started
}

describe('the sender of the outbox', () => {
  if (!isShared)
    it('asks for messages once for one, since nobody else could have left any', async () => {
      const { url } = await receiver()
      const store = await openStore()
      const asked: string[] = []
      const run: typeof store.writer.run = (operation, args) => {
        asked.push(operation.name)
        return store.writer.run(operation, args)
      }
      const { sender, send, settled } = await openSender({ ...store, writer: { run } })
      await send(`${url}/done`)
      sender.wake()
      await settled(1)
      await sender.stop()
      expect(asked.filter((name) => name !== 'outbox.limit-waits')).toEqual([
        'test.enqueue',
        'outbox.lease',
        'outbox.record-attempt',
      ])
    })

  it('delivers a message with an id and a signature that its receiver can verify', async () => {
    const { url, count } = await receiver()
    const { sender, send, list, settled } = await openSender()
    await send(`${url}/done`, '{"status":"approved"}')
    sender.wake()
    const [request] = await count(1)
    expect(request?.path).toBe('/done')
    const headers = request?.headers as Record<string, string>
    expect(new Webhook(SECRET).verify(request?.body ?? '', headers)).toEqual({ status: 'approved' })
    await settled(1)
    expect(await list()).toMatchObject([
      { state: 'delivered', attempts: 1, lastStatus: 200, webhookId: headers['webhook-id'] },
    ])
  })

  it('tries again with the same id after a failure, not before its time', async () => {
    const { url, received, count } = await receiver((response, place) => {
      response.statusCode = place === 0 ? 500 : 200
      response.end()
    })
    const { sender, send, settled, advance } = await openSender()
    await send(url)
    sender.wake()
    await settled(1)
    await advance(500)
    expect(received).toHaveLength(1)
    await advance(600)
    await count(2)
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })

  it('delivers to one receiver while another hangs', async () => {
    const stuck = await receiver(() => undefined)
    const healthy = await receiver()
    const { sender, send, settled } = await openSender()
    for (let index = 0; index < 20; index++) await send(stuck.url)
    for (let index = 0; index < 5; index++) await send(healthy.url)
    sender.wake()
    await healthy.count(5)
    expect((await settled(5)).map(({ state }) => state)).toEqual(Array(5).fill('delivered'))
    expect(stuck.received).toHaveLength(2)
    stuck.received.length = 0
    await stuck.close()
  })

  it('delivers to one receiver while many others hang', async () => {
    const stuck = await Promise.all(Array.from({ length: 40 }, () => receiver(() => undefined)))
    const healthy = await receiver()
    const { sender, send, settled } = await openSender()
    for (const { url } of [...stuck, ...stuck]) await send(url)
    sender.wake()
    for (const { count } of stuck) await count(2)
    await send(healthy.url)
    sender.wake()
    await healthy.count(1)
    expect(await settled(1)).toMatchObject([{ state: 'delivered' }])
    for (const { close } of stuck) await close()
  })

  it('gives a message up visibly after its time, and sends it again when told to', async () => {
    let status = 500
    const { url, count } = await receiver((response) => {
      response.statusCode = status
      response.end()
    })
    const { sender, send, list, advance, attempts, settled, writer } = await openSender()
    const id = await send(url)
    sender.wake()
    await settled(1)
    while (attempts.at(-1)?.state === 'pending') {
      const seen = attempts.length
      await advance(9000)
      await settled(seen + 1)
    }
    expect(await list()).toMatchObject([{ state: 'given_up', lastError: 'the receiver answered 500' }])
    status = 200
    const seen = attempts.length
    await writer.run(resendMessage, { id, nowMs: Date.now(), user: 'ops', origin: undefined })
    sender.wake()
    await count(seen + 1)
    await settled(seen + 1)
    expect(await list()).toMatchObject([{ state: 'delivered' }])
  })

  it('refuses to send again what is still being tried', async () => {
    const { send, writer } = await openSender()
    const id = await send('http://127.0.0.1:9/')
    await expect(
      writer.run(resendMessage, { id, nowMs: START_MS, user: undefined, origin: undefined }),
    ).rejects.toMatchObject({ kind: 'conflict' })
  })

  it('gives up at once what may never be sent', async () => {
    const { sender, send, list, settled } = await openSender()
    await send('http://169.254.169.254/latest')
    sender.wake()
    await settled(1)
    expect(await list()).toMatchObject([{ state: 'given_up', attempts: 1 }])
  })

  // A live replica keeps its leases. test/store/postgres covers those of a dead one.
  if (!isShared)
    it('takes up after a restart what had been under way', async () => {
      const stuck = await receiver(() => undefined)
      const first = await openSender()
      await first.send(stuck.url)
      first.sender.wake()
      await stuck.count(1)
      // As if the process had been killed: nothing was recorded, the lease still runs.
      const store = await openStore(first.dataDir)
      const second = await openSender(store)
      await second.sender.start()
      await stuck.count(2)
      await stuck.close()
      await second.settled(1)
    })
})

describe('a message of 100 KB that was under way twice when the process ended', () => {
  const body = JSON.stringify('x'.repeat(100_000))

  it('is given up, saying why, while small ones are sent; and is sent again when somebody asks', async () => {
    const store = await openStore()
    const receiver = await startReceiver()
    closers.push(() => receiver.close())
    writeFileSync(join(store.dataDir, 'work.jsonl'), '[2,"message","1"]\n[2,"message","2"]\n')
    const attempts = new JournaledAttempts(join(store.dataDir, 'work.jsonl'))
    closers.push(() => {
      attempts.close()
      return Promise.resolve()
    })
    const opened = await openSender(store, attempts)
    await opened.send(receiver.url, body)
    await opened.send(receiver.url)
    await opened.sender.start()
    await opened.settled(2)
    const [small, large] = await opened.list()
    expect(small?.state).toBe('delivered')
    expect(large).toMatchObject({
      state: 'given_up',
      lastError: expect.stringMatching(/ended 2 times while it was running/) as unknown,
    })
    attempts.forget({ kind: 'message', key: '1' })
    await opened.writer.run(resendMessage, { id: 1, nowMs: START_MS, user: 'ana', origin: 'test' })
    opened.sender.wake()
    await opened.settled(3)
    expect((await opened.list()).map(({ state }) => state)).toEqual(['delivered', 'delivered'])
  })
})

it('tries again within the longest wait though the clock was set back by a day', async () => {
  const { url, count } = await receiver((response, place) => {
    response.statusCode = place === 0 ? 500 : 200
    response.end()
  })
  const { sender, send, settled, advance } = await openSender()
  await send(url)
  sender.wake()
  await settled(1)
  await advance(-86_400_000)
  await advance(8001)
  await count(2)
})

it('takes up at its start what waits until a time that lies a day ahead', async () => {
  const { url, count } = await receiver()
  const opened = await openSender()
  const lease = { limit: 512, limitPerReceiver: 512, underWay: {} }
  const ahead = START_MS + 86_400_000
  await opened.send(url)
  await opened.writer.run(leaseMessages, { ...lease, nowMs: START_MS, leasedUntilMs: ahead })
  opened.sender.wake()
  await opened.advance(10_001)
  await count(1)
})

it('of many large messages takes some at a time, and sends them all', async () => {
  const receiver = await startReceiver()
  closers.push(() => receiver.close())
  const opened = await openSender()
  const lease = { leasedUntilMs: START_MS + 9000, limit: 512, limitPerReceiver: 512, underWay: {} }
  for (let count = 0; count < 12; count++)
    await opened.send(receiver.url, JSON.stringify('x'.repeat(1024 * 1024)))
  const first = await opened.writer.run(leaseMessages, { ...lease, nowMs: START_MS })
  expect(first.messages).toHaveLength(8)
  expect(first.nextDueMs).toBeLessThan(START_MS + 1000)
  const second = await opened.writer.run(leaseMessages, { ...lease, nowMs: START_MS })
  expect(second.messages).toHaveLength(4)
})
