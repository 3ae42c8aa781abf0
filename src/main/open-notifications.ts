import { randomUUID } from 'node:crypto'

import type { Config } from '../config/config.js'
import type { ReadSecret } from '../config/values/secret.js'
import { AppError, toError } from '../errors/app-error.js'
import type { NotificationRoutesDeps } from '../http/routes/messages/notifications.js'
import type { Logger } from '../lib/logger.js'
import type { AddressPolicy } from '../lib/outbound/address-policy.js'
import type { OutboundClient } from '../lib/outbound/outbound-client.js'
import { makeNotificationChannel } from '../notifications/notification-channel.js'
import type { Receiver } from '../notifications/notification-channel.js'
import { followTrail, messagesOf } from '../notifications/follow-trail.js'
import type { RenderedChannel } from '../notifications/follow-trail.js'
import { makeCallbackSigner } from '../outbox/callback-signature.js'
import type { Channel } from '../outbox/sender.js'
import type { OutboxMessage, StoredMessage } from '../store/ports/outbox-store.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import type { Leadership } from './timers/leadership.js'
import { repeat } from './timers/repeat.js'

const MS_PER_SECOND = 1000
const MS_PER_MINUTE = 60_000
const MS_PER_HOUR = 3_600_000
const FOLLOW_INTERVAL_MS = 1000

type Sign = ReturnType<typeof makeCallbackSigner>
type ChannelConfig = Config['notifications']['channels'][number]

interface NotificationParts {
  readonly store: ServiceStore
  readonly logger: Logger
  readonly readSecret: ReadSecret
  readonly leadership: Leadership
  /** Sends to the addresses that an operator chose, and may reach these. */
  readonly client: OutboundClient
  readonly policy: AddressPolicy
  /** Signs messages of channels without a secret of their own. */
  readonly sign: Sign
}

export interface OpenNotifications {
  /** Sends the notifications of the outbox. */
  readonly channel: Channel
  readonly routes: NotificationRoutesDeps
  /** Starts to enqueue messages. `enqueued` is called when some are due. */
  readonly start: (enqueued: () => void) => Promise<() => Promise<void>>
}

/** Opens the channels of notifications. Throws `invalid` for a secret that is missing or unusable. */
export function openNotifications(config: Config, parts: NotificationParts): OpenNotifications {
  const { channels, rules } = config.notifications
  const receivers = new Map(
    channels.map((channel, index) => [channel.name, receiverOf(channel, index, parts)]),
  )
  const rendered = new Map(channels.map((channel) => [channel.name, renderedOf(channel)]))
  const channel = makeNotificationChannel({ receivers, ...parts })
  const { publicUrl } = config.server
  return {
    channel,
    routes: {
      channels: channels.map(({ name, type }) => ({
        name,
        type,
        events: [...new Set(rules.filter((rule) => rule.channel === name).flatMap(({ events }) => events))],
      })),
      test: async (name, user) => {
        if (!rendered.has(name)) throw unknownChannel(name, channels)
        const nowMs = parts.store.now()
        const notice = {
          event: 'test',
          timeMs: nowMs,
          subject: 'notification:test',
          path: '/ui',
          user,
        } as const
        const address = { channel: name, notice, template: undefined }
        const messages = messagesOf(address, { channels: rendered, publicUrl }, nowMs)
        const timeoutMs = config.callbacks.timeoutSeconds * MS_PER_SECOND
        return await Promise.all(
          messages.map((message) => tryOnce(channel, message, { ...parts.store, timeoutMs })),
        )
      },
    },
    start: (enqueued) => startFollowing(config, parts, rendered, enqueued),
  }
}

/** Follows the trail from its present end. Returns a function that stops it. */
async function startFollowing(
  { notifications, server, callbacks }: Config,
  { store, logger, leadership }: NotificationParts,
  channels: ReadonlyMap<string, RenderedChannel>,
  enqueued: () => void,
): Promise<() => Promise<void>> {
  const { rules, denialSeconds, denialMinutes } = notifications
  if (rules.length === 0) return () => Promise.resolve()
  const options = {
    ...{ reader: store.reader, writer: store.writer, lookups: store.lookups, now: store.now },
    ...{ channels, rules, publicUrl: server.publicUrl },
    denials: { collectMs: denialSeconds * MS_PER_SECOND, intervalMs: denialMinutes * MS_PER_MINUTE },
    maxAgeMs: callbacks.giveUpAfterHours * MS_PER_HOUR,
  }
  const following = repeat(
    FOLLOW_INTERVAL_MS,
    leadership.led(async (signal) => {
      if ((await followTrail(options, signal)) > 0) enqueued()
    }),
    (error) => logger.error({ error: error.message }, 'notifications are delayed'),
  )
  await following.runNow()
  return following.stop
}

function receiverOf(
  channel: ChannelConfig,
  index: number,
  { readSecret, sign }: NotificationParts,
): Receiver {
  const place = `notifications.channels[${index}]`
  if (channel.type === 'mail') {
    const { host, port, encryption, user, from, password } = channel
    return {
      type: 'mail',
      server: { host, port, encryption, user, from, password: password && readSecret(password) },
    }
  }
  const url = httpUrl(readSecret(channel.url).reveal(), `${place}.url`)
  if (channel.type !== 'webhook') return { type: channel.type, url, headers: () => ({}) }
  const { secret } = channel
  const headers = secret && makeCallbackSigner(readSecret(secret).reveal(), `${place}.secret`)
  return { type: 'webhook', url, headers: headers ?? sign }
}

function renderedOf(channel: ChannelConfig): RenderedChannel {
  return { type: channel.type, to: channel.type === 'mail' ? channel.to : [] }
}

/** The message never contains the URL, which is a secret. */
function httpUrl(text: string, place: string): string {
  const url = URL.parse(text)
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '')
    return text
  throw new AppError('invalid', `${place} is not an http or https URL: check the secret that it names`)
}

/** Sends a message without storing it. Returns why it failed; undefined for a delivered one. */
async function tryOnce(
  channel: Channel,
  message: OutboxMessage,
  options: { readonly now: () => number; readonly timeoutMs: number },
): Promise<string | undefined> {
  const { createdMs, url } = message
  const stored: StoredMessage = {
    ...message,
    ...{ id: 0, webhookId: `msg_${randomUUID()}`, receiver: url, state: 'pending', attempts: 0 },
    ...{ nextAttemptMs: createdMs, triedSinceMs: createdMs },
  }
  try {
    const attempt = await channel.send(stored, options)
    if (attempt.type === 'failed') return attempt.error
    const isDelivered = attempt.status >= 200 && attempt.status < 300
    return isDelivered ? undefined : `the receiver answered ${attempt.status}`
  } catch (raw) {
    return toError(raw).message
  }
}

function unknownChannel(name: string, channels: readonly ChannelConfig[]): AppError {
  const known = channels.map((channel) => channel.name).join(', ')
  const hint = known === '' ? 'notifications.channels is empty' : `channels are ${known}`
  return new AppError('not_found', `there is no notification channel ${name}: ${hint}`)
}
