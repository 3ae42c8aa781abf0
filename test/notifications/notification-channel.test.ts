import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, it } from 'vitest'
import { Secret } from '../../src/lib/outbound/credentials.js'
import { makeOutboundClient } from '../../src/lib/outbound/outbound-client.js'
import { makeNotificationChannel } from '../../src/notifications/notification-channel.js'
import type { Receiver, MailServer } from '../../src/notifications/notification-channel.js'
import { afterAttempt } from '../../src/outbox/after-attempt.js'
import { makeCallbackSigner } from '../../src/outbox/callback-signature.js'
import type { StoredMessage } from '../../src/store/ports/outbox-store.js'
import { smtpReply, startMailServer } from '../support/mail-server.js'
import { startReceiver } from '../support/receiver.js'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const POLICY = { firstRetryMs: 1000, maxRetryMs: 8000, giveUpAfterMs: 60_000 }
const NOW_MS = Date.now()
const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function message(body: string, channel = 'ops'): StoredMessage {
  return {
    ...{ id: 1, webhookId: 'msg_1', topic: 'notification', url: `notification:${channel}` },
    ...{ receiver: `notification:${channel}`, body, state: 'pending', attempts: 0 },
    ...{ createdMs: NOW_MS, nextAttemptMs: NOW_MS, triedSinceMs: NOW_MS },
  }
}

/** Sends once and gives the resulting state, as the outbox stores it. */
async function send(receiver: Receiver, body: string, timeoutMs = 5000, addresses = LOOPBACK) {
  const client = makeOutboundClient(addresses)
  closers.push(client.close)
  const channel = makeNotificationChannel({
    receivers: new Map([['ops', receiver]]),
    client,
    policy: addresses,
  })
  const sent = message(body)
  const attempt = await channel
    .send(sent, { now: () => NOW_MS, timeoutMs })
    .catch((error: unknown) => ({ type: 'failed' as const, error: String(error), isFinal: false }))
  return afterAttempt(sent, attempt, POLICY, NOW_MS, () => 0)
}
const LOOPBACK = { allowLoopback: true, allowPrivate: true }

async function chat(...args: Parameters<typeof startReceiver>) {
  const started = await startReceiver(...args)
  closers.push(started.close)
  const receiver: Receiver = { type: 'slack', url: `${started.url}/hook`, headers: () => ({}) }
  return { ...started, receiver }
}

describe('a chat service', () => {
  it('gets the body as JSON', async () => {
    const { receiver, received } = await chat()
    expect(await send(receiver, '{"text":"hi"}')).toMatchObject({ state: 'delivered', lastStatus: 200 })
    expect(received[0]).toMatchObject({ path: '/hook', body: '{"text":"hi"}' })
  })

  it('that limits its callers gets the message after the time that it names', async () => {
    const { receiver } = await chat((response) => response.writeHead(429, { 'retry-after': '30' }).end())
    expect(await send(receiver, '{}')).toMatchObject({ state: 'pending', nextAttemptMs: NOW_MS + 30_000 })
  })

  it.each([400, 403, 404, 410])('that answers %i gets no further attempt', async (status) => {
    const { receiver } = await chat((response) => response.writeHead(status).end('no_service'))
    expect(await send(receiver, '{}')).toMatchObject({ state: 'given_up', lastStatus: status })
  })

  it.each([408, 500, 503])('that answers %i gets the message again', async (status) => {
    const { receiver } = await chat((response) => response.writeHead(status).end())
    expect(await send(receiver, '{}')).toMatchObject({ state: 'pending', lastStatus: status })
  })

  it('that does not answer in time gets the message again', async () => {
    const { receiver } = await chat(() => undefined)
    expect(await send(receiver, '{}', 50)).toMatchObject({ state: 'pending', attempts: 1 })
  })
})

describe('a receiver of webhooks', () => {
  it('can verify the signature, and refuses without an end', async () => {
    const { url, received } = await chat((response) => response.writeHead(404).end())
    const receiver: Receiver = { type: 'webhook', url, headers: makeCallbackSigner(SECRET) }
    expect(await send(receiver, '{"a":1}')).toMatchObject({ state: 'pending' })
    const { headers, body } = received[0] ?? { headers: {}, body: '' }
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    expect(new Webhook(SECRET).verify(body, texts)).toEqual({ a: 1 })
    expect(texts['webhook-id']).toBe('msg_1')
  })
})

describe('a message', () => {
  it('for a channel that is no longer configured is given up with a reason', async () => {
    const client = makeOutboundClient(LOOPBACK)
    closers.push(client.close)
    const channel = makeNotificationChannel({ receivers: new Map(), client, policy: LOOPBACK })
    const attempt = await channel.send(message('{}', 'gone'), { now: () => NOW_MS, timeoutMs: 1000 })
    expect(attempt).toEqual({
      type: 'failed',
      error: 'no channel of notifications.channels is named gone',
      isFinal: true,
    })
  })
})

const MAIL = JSON.stringify({ to: 'ana@example.org', subject: 'Production waits', text: 'link\n' })

async function mail(options: Parameters<typeof startMailServer>[0] = {}, more: Partial<MailServer> = {}) {
  const started = await startMailServer({ hideSTARTTLS: true, ...options })
  closers.push(started.close)
  const server: MailServer = {
    ...{ host: '127.0.0.1', port: started.port, encryption: 'none', password: undefined },
    from: 'tidegate@example.org',
    ...more,
  }
  return { ...started, receiver: { type: 'mail', server } as const }
}

describe('a mail server', () => {
  it('gets a mail with an id that stays the same', async () => {
    const { receiver, received } = await mail()
    expect(await send(receiver, MAIL)).toMatchObject({ state: 'delivered' })
    expect(received[0]?.recipients).toEqual(['ana@example.org'])
    expect(received[0]?.source).toMatch(/^Message-ID: <msg_1@example\.org>\r$/m)
    expect(received[0]?.source).toMatch(/^Subject: Production waits\r$/m)
  })

  it('gets no header or recipient from a text with line breaks', async () => {
    const { receiver, received } = await mail()
    const evil = {
      to: 'ana@example.org',
      subject: 'a\r\nBcc: eve@example.org\r\n\r\nhi',
      text: 'x\r\n.\r\nRCPT TO:<e@x>\r\n',
    }
    expect(await send(receiver, JSON.stringify(evil))).toMatchObject({ state: 'delivered' })
    expect(received).toHaveLength(1)
    expect(received[0]?.recipients).toEqual(['ana@example.org'])
    expect(received[0]?.source).not.toMatch(/^Bcc:/m)
  })

  it('that refuses for now gets the mail again, and one that refuses permanently does not', async () => {
    const later = await mail({ onRcptTo: (_, __, callback) => callback(smtpReply(451, 'try later')) })
    expect(await send(later.receiver, MAIL)).toMatchObject({ state: 'pending' })
    const never = await mail({ onRcptTo: (_, __, callback) => callback(smtpReply(550, 'no such user')) })
    const { state, lastError } = await send(never.receiver, MAIL)
    expect(state).toBe('given_up')
    expect(lastError).toContain('no such user')
  })

  it('without encryption gets nothing unless the configuration allows it', async () => {
    const { receiver, received } = await mail({}, { encryption: 'starttls' })
    expect(await send(receiver, MAIL)).toMatchObject({ state: 'pending' })
    expect(received).toEqual([])
  })

  it('that is not there, or does not greet, gets the mail again', async () => {
    const { receiver, close } = await mail()
    await close()
    const { state, lastError } = await send(receiver, MAIL)
    expect(state).toBe('pending')
    expect(lastError).toContain('could not be reached')
    const silent = createServer((socket) => closers.push(() => Promise.resolve(void socket.destroy())))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    closers.push(() => new Promise((resolve) => silent.close(() => resolve())))
    const { port } = silent.address() as AddressInfo
    const mute = { type: 'mail', server: { ...receiver.server, port } } as const
    expect(await send(mute, MAIL, 100)).toMatchObject({ state: 'pending' })
  })

  it('that refuses the sign-in does not get the password into the outbox', async () => {
    const password = new Secret('correct horse')
    const { receiver } = await mail(
      {
        allowInsecureAuth: true,
        onAuth: ({ password: given }, _, callback) => callback(smtpReply(535, `no: ${String(given)}`)),
      },
      { user: 'tidegate', password },
    )
    const { state, lastError } = await send(receiver, MAIL)
    expect(state).toBe('given_up')
    expect(lastError).not.toContain('correct horse')
  })

  it('at a refused address gets no connection', async () => {
    const { receiver } = await mail()
    const sending = send(receiver, MAIL, 1000, { allowLoopback: false, allowPrivate: false })
    expect((await sending).lastError).toContain('loopback')
  })
})
