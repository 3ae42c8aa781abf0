import type { Config } from '../config/config.js'
import type { OutboxRoutesDeps } from '../http/routes/messages/outbox.js'
import { makeOutboundClient } from '../lib/outbound/outbound-client.js'
import type { OutboundClient } from '../lib/outbound/outbound-client.js'
import type { Logger } from '../lib/logger.js'
import type { WorkAttempts } from '../lib/work-attempts.js'
import { makeCallbackSigner } from '../outbox/callback-signature.js'
import { purgeMessages } from '../outbox/outbox-operations.js'
import type { Attempt } from '../outbox/after-attempt.js'
import { OutboxSender, makeHttpChannel } from '../outbox/sender.js'
import type { Channel, SenderSettings } from '../outbox/sender.js'
import type { OutboxProgress, OutboxTopic, StoredMessage } from '../store/ports/outbox-store.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import type { InTrace } from '../telemetry/telemetry.js'
import { openNotifications } from './open-notifications.js'
import type { OpenNotifications } from './open-notifications.js'
import { installationSecret, newSecret } from './files/installation-secret.js'
import type { Configured, Reloads } from './reload/reloads.js'
import type { Leadership } from './timers/leadership.js'
import { repeat, setUnrefTimer } from './timers/repeat.js'
import type { Repeated } from './timers/repeat.js'

const MS_PER_SECOND = 1000
const MS_PER_HOUR = 3_600_000
const HOURS_PER_DAY = 24
const SECRET_FILE = 'callback-secret'
const TAKE_OVER_INTERVAL_MS = 2000

/** The operator configured these addresses, so any may be used except those of metadata services. */
const OPERATORS_ADDRESSES = { allowLoopback: true, allowPrivate: true }

interface OutboxParts {
  readonly store: ServiceStore
  readonly logger: Logger
  readonly attempts: WorkAttempts
  readonly leadership: Leadership
  readonly reloads: Reloads
  /** Headers of the webhook relay, such as the secret token that the orchestrator expects. */
  readonly relayHeaders: (message: { readonly url: string }) => Readonly<Record<string, string>>
  readonly attempted: (topic: OutboxTopic, progress: OutboxProgress) => void
  readonly inTrace: InTrace
}

export interface OpenOutbox {
  readonly routes: OutboxRoutesDeps
  readonly notifications: OpenNotifications['routes']
  /** Notifies the sender that a message may be due. */
  readonly wake: () => void
  readonly close: () => Promise<void>
}

/**
 * Starts the sender of callbacks and relayed webhooks. Throws `invalid` for a secret that cannot
 * sign.
 */
export async function openOutbox(parts: OutboxParts): Promise<OpenOutbox> {
  const { store, logger, reloads } = parts
  const operatorsClient = makeOutboundClient(OPERATORS_ADDRESSES)
  let current = await openSending(reloads.current, parts, operatorsClient)
  const sender = new OutboxSender({
    ...current.settings,
    writer: store.writer,
    attempts: parts.attempts,
    now: store.now,
    random: Math.random,
    setTimer: setUnrefTimer,
    attempted: (message, progress) => {
      parts.attempted(message.topic, progress)
      logAttempt(logger, message, progress)
    },
    failed: (error) => logger.error({ error: error.message }, 'the outbox cannot be read or written'),
  })
  // Otherwise nothing is due, and the writing thread need not start.
  if (await store.lookups.outbox.hasPending()) await sender.start()
  const purging = repeat(
    MS_PER_HOUR,
    parts.leadership.led(async () => {
      await purgeMessages(
        { writer: store.writer, outbox: store.lookups.outbox },
        store.removalTime() - reloads.config.callbacks.keepDays * HOURS_PER_DAY * MS_PER_HOUR,
      )
    }),
    (error) => logger.error({ error: error.message }, 'old messages not removed from the outbox'),
  )
  const wake = (): void => sender.wake()
  const takingOver = takeOverMessages(parts, wake)
  let following = current.notifications.start(wake)
  await following
  reloads.add(async (next) => {
    const prepared = await openSending(next, parts, operatorsClient)
    return {
      commit: () => {
        // The former client's idle connections close by themselves.
        current = prepared
        sender.use(prepared.settings)
        following = following.then((stop) => stop()).then(() => prepared.notifications.start(wake))
      },
    }
  })
  return {
    routes: { writer: store.writer, reader: store.reader, now: store.now, wake },
    notifications: {
      get channels() {
        return current.notifications.routes.channels
      },
      test: (...request) => current.notifications.routes.test(...request),
    },
    wake,
    close: async () => {
      await Promise.all([(await following)(), purging.stop(), takingOver.stop(), sender.stop()])
      await Promise.all([current.callbackClient.close(), operatorsClient.close()])
    },
  }
}

/** How messages are sent with a configuration. */
interface Sending {
  readonly settings: SenderSettings
  readonly callbackClient: OutboundClient
  readonly notifications: OpenNotifications
}

/** Throws as `openOutbox`. */
async function openSending(
  { config, readSecret }: Configured,
  parts: OutboxParts,
  operatorsClient: OutboundClient,
): Promise<Sending> {
  const { callbacks } = config
  const callbackClient = makeOutboundClient(callbacks, { connectionsPerOrigin: callbacks.perReceiver })
  const sign = makeCallbackSigner(await callbackSecret(config, { ...parts, readSecret }))
  const notifications = openNotifications(config, {
    ...{ ...parts, readSecret, client: operatorsClient, policy: OPERATORS_ADDRESSES, sign },
  })
  const traced = ({ send }: Channel): Channel => ({
    send: async (message, options) => {
      // The client adds the header of the span of each attempt.
      const { traceparent, ...headers } = message.headers ?? {}
      const attempt = (): Promise<Attempt> => send({ ...message, headers }, options)
      return parts.inTrace(`send ${message.topic}`, {}, attempt, traceparent)
    },
  })
  const settings = {
    channels: {
      'gate.callback': traced(makeHttpChannel(callbackClient, sign)),
      'webhook.relay': traced(makeHttpChannel(operatorsClient, parts.relayHeaders)),
      'analysis.notification': traced(makeHttpChannel(operatorsClient, sign)),
      notification: traced(notifications.channel),
    },
    policy: {
      firstRetryMs: callbacks.firstRetrySeconds * MS_PER_SECOND,
      maxRetryMs: callbacks.maxRetrySeconds * MS_PER_SECOND,
      giveUpAfterMs: callbacks.giveUpAfterHours * MS_PER_HOUR,
    },
    timeoutMs: callbacks.timeoutSeconds * MS_PER_SECOND,
    limitPerReceiver: callbacks.perReceiver,
  }
  return { settings, callbackClient, notifications }
}

/** With a shared store, wakes the sender when messages of other services may be due or unleased. */
function takeOverMessages({ store, logger }: OutboxParts, wake: () => void): Pick<Repeated, 'stop'> {
  if (store.sharing === undefined) return { stop: () => Promise.resolve() }
  const wakeIfPending = async (): Promise<void> => {
    if (await store.lookups.outbox.hasPending()) wake()
  }
  const checking = repeat(TAKE_OVER_INTERVAL_MS, wakeIfPending, (error) => {
    logger.error({ error: error.message }, 'the outbox cannot be checked for due messages')
  })
  store.sharing.whenReleased(() => void checking.runNow())
  return checking
}

/** The configured secret, or that of this installation. */
async function callbackSecret(
  { callbacks, dataDir }: Config,
  { store, logger, readSecret }: OutboxParts & Pick<Configured, 'readSecret'>,
): Promise<string> {
  if (callbacks.secret !== undefined) return readSecret(callbacks.secret).reveal()
  if (store.sharing !== undefined) return await store.sharing.secret(SECRET_FILE, newSecret)
  const created = (path: string): void =>
    logger.info({ path }, 'created a secret that signs callbacks: give it to their receivers')
  return installationSecret(dataDir, SECRET_FILE, created)
}

function logAttempt(logger: Logger, message: StoredMessage, progress: OutboxProgress): void {
  const { id, receiver, subject } = message
  const about = { message: id, receiver, subject, attempts: progress.attempts, error: progress.lastError }
  if (progress.state === 'given_up')
    logger.error(about, 'a message was given up; it can be sent again by hand')
  else if (progress.state === 'pending')
    logger.warn(about, 'a message was not delivered and will be tried again')
}
