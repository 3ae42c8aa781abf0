import { toError } from '../errors/app-error.js'
import type { OutboundClient, OutboundResponse } from '../lib/outbound/outbound-client.js'
import { OutboundError } from '../lib/outbound/outbound-error.js'
import type { WorkAttempts } from '../lib/work-attempts.js'
import { isSuspended } from '../lib/work-attempts.js'
import { retryAfterMs } from '../lib/outbound/back-off.js'
import type { AuditEntry } from '../store/ports/audit-store.js'
import type { OutboxProgress, OutboxTopic, StoredMessage } from '../store/ports/outbox-store.js'
import type { Writer } from '../store/ports/transaction.js'
import { afterAttempt } from './after-attempt.js'
import type { Attempt, DeliveryPolicy } from './after-attempt.js'
import { leaseMessages, limitWaits, recordAttempt, releaseLeases } from './outbox-operations.js'
import { shownTarget, sourceOf } from './message-labels.js'

/** Sends the messages of a topic. */
export interface Channel {
  /** Throws if there is no response. */
  readonly send: (message: StoredMessage, options: SendOptions) => Promise<Attempt>
}

interface SendOptions {
  readonly now: () => number
  readonly timeoutMs: number
}

/** How messages are sent, which may change. */
export interface SenderSettings {
  readonly channels: Readonly<Record<OutboxTopic, Channel>>
  readonly policy: DeliveryPolicy
  readonly timeoutMs: number
  readonly limitPerReceiver: number
}

export interface SenderOptions extends SenderSettings {
  readonly writer: Writer
  readonly attempts: WorkAttempts
  readonly now: () => number
  readonly random: () => number
  /** Calls back once after a delay. Returns a function that cancels it. */
  readonly setTimer: (callback: () => void, delayMs: number) => () => void
  /** Called for every attempt. */
  readonly attempted: (message: StoredMessage, progress: OutboxProgress) => void
  /** Called when the store fails. The sender tries again. */
  readonly failed: (error: Error) => void
}

/**
 * Highest number of concurrent messages. Dozens of hanging receivers, each with its limit, leave
 * capacity for others.
 */
const MAX_UNDER_WAY = 512
const LEASE_MARGIN_MS = 5000
const MAX_RESPONSE_BYTES = 64 * 1024
const MAX_UNNOTED_LENGTH = 64 * 1024
/** Kind of the work on a large message, shown when it is suspended. */
export const OUTBOX_MESSAGE = 'message'
const AFTER_STORE_FAILURE_MS = 1000
/** Highest sleep, within which a clock that was set back is noticed. */
const MAX_SLEEP_MS = 60_000

/**
 * Sends the messages of the outbox until each is delivered or given up. The number of concurrent
 * messages to a receiver is limited, so that a hanging one delays no other.
 */
export class OutboxSender {
  #options: SenderOptions
  /** Number of concurrent messages by receiver, and in total. */
  readonly #underWay = new Map<string, number>()
  #sending = 0
  /** Whether due messages may be left. Then the end of any message starts another poll. */
  #isMoreDue = false
  readonly #deliveries = new Set<Promise<void>>()
  #polling: Promise<void> | undefined
  /** Time of the last poll. Infinity at first, since stored times may come from another clock. */
  #polledMs = Infinity
  #pollAgain = false
  #cancelTimer: () => void = () => undefined
  #isStopped = false

  constructor(options: SenderOptions) {
    this.#options = options
  }

  /** Sends messages with other settings from now on. Messages under way keep the former ones. */
  use(settings: SenderSettings): void {
    this.#options = { ...this.#options, ...settings }
  }

  /** Releases the leases of an earlier process and starts. */
  async start(): Promise<void> {
    await this.#options.writer.run(releaseLeases, { nowMs: this.#options.now() })
    this.wake()
  }

  /** Polls the outbox, since a message may be due. */
  wake(): void {
    this.#pollAgain = true
    this.#polling ??= this.#pollWhileDue()
  }

  /** Stops polling and waits for messages under way, which have a timeout. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTimer()
    await this.#polling
    await Promise.all(this.#deliveries)
  }

  async #pollWhileDue(): Promise<void> {
    while (this.#pollAgain && !this.#isStopped) {
      this.#pollAgain = false
      try {
        await this.#poll()
      } catch (raw) {
        this.#options.failed(toError(raw))
        this.#sleep(AFTER_STORE_FAILURE_MS)
      }
    }
    this.#polling = undefined
  }

  async #poll(): Promise<void> {
    const { writer, now, timeoutMs, limitPerReceiver, policy } = this.#options
    const limit = MAX_UNDER_WAY - this.#sending
    if (limit <= 0) {
      this.#isMoreDue = true
      return
    }
    const nowMs = now()
    const leasedUntilMs = nowMs + timeoutMs + LEASE_MARGIN_MS
    if (nowMs < this.#polledMs) {
      await writer.run(limitWaits, { nextAttemptMs: nowMs + policy.maxRetryMs, leasedUntilMs })
    }
    this.#polledMs = nowMs
    const { messages, nextDueMs, isMoreDue } = await writer.run(leaseMessages, {
      nowMs,
      leasedUntilMs,
      limit,
      limitPerReceiver,
      underWay: Object.fromEntries(this.#underWay),
    })
    this.#isMoreDue = isMoreDue
    for (const message of messages) this.#begin(message)
    if (nextDueMs !== undefined) this.#sleep(Math.max(0, nextDueMs - nowMs))
  }

  #sleep(delayMs: number): void {
    this.#cancelTimer()
    if (this.#isStopped) return
    this.#cancelTimer = this.#options.setTimer(
      () => {
        this.wake()
      },
      Math.min(delayMs, MAX_SLEEP_MS),
    )
  }

  #begin(message: StoredMessage): void {
    const { receiver } = message
    this.#underWay.set(receiver, (this.#underWay.get(receiver) ?? 0) + 1)
    this.#sending += 1
    const delivery = this.#deliver(message).finally(() => this.#deliveries.delete(delivery))
    this.#deliveries.add(delivery)
  }

  /** Frees the capacity of a message, and polls if others are due or this one is to be retried. */
  #ended({ receiver }: StoredMessage, { state }: OutboxProgress): void {
    this.#sending -= 1
    const left = (this.#underWay.get(receiver) ?? 1) - 1
    if (left > 0) this.#underWay.set(receiver, left)
    else this.#underWay.delete(receiver)
    if (this.#isMoreDue || state === 'pending') this.wake()
  }

  async #deliver(message: StoredMessage): Promise<void> {
    const { writer, policy, now, random, attempted, failed } = this.#options
    const attempt = await this.#attemptNoted(message)
    const nowMs = now()
    const progress = afterAttempt(message, attempt, policy, nowMs, random)
    const recorded = writer.run(recordAttempt, { progress, entry: settledEntry(message, progress, nowMs) })
    // In the same turn, so that the next lease shares the commit of this record.
    this.#ended(message, progress)
    try {
      await recorded
      attempted(message, progress)
    } catch (raw) {
      // The lease expires and the message is sent again with the same id.
      failed(toError(raw))
      this.wake()
    }
  }

  /** Notes the attempt of a large message, since only these may crash the process. */
  async #attemptNoted(message: StoredMessage): Promise<Attempt> {
    if (message.body.length <= MAX_UNNOTED_LENGTH) return await this.#attempt(message)
    const work = { kind: OUTBOX_MESSAGE, key: String(message.id) }
    try {
      return await this.#options.attempts.run(work, () => this.#attempt(message))
    } catch (raw) {
      return { type: 'failed', error: toError(raw).message, isFinal: isSuspended(raw) }
    }
  }

  async #attempt(message: StoredMessage): Promise<Attempt> {
    try {
      return await this.#options.channels[message.topic].send(message, this.#options)
    } catch (raw) {
      return failedAttempt(raw)
    }
  }
}

/**
 * Makes a channel that posts each message to its URL. `headers` returns the topic's headers at the
 * time of sending.
 */
export function makeHttpChannel(
  client: OutboundClient,
  headers: (message: StoredMessage, nowMs: number) => Readonly<Record<string, string>>,
): Channel {
  return {
    send: async (message, { now, timeoutMs }) => {
      const response = await client.send({
        method: 'POST',
        url: message.url,
        headers: { 'content-type': 'application/json', ...message.headers, ...headers(message, now()) },
        body: message.body,
        timeoutMs,
        maxResponseBytes: MAX_RESPONSE_BYTES,
      })
      return answered(response, now())
    },
  }
}

/** The attempt of a response. */
export function answered({ status, headers }: OutboundResponse, nowMs: number): Attempt {
  return { type: 'answered', status, retryAfterMs: retryAfterMs(headers['retry-after'], nowMs) }
}

function failedAttempt(raw: unknown): Attempt {
  // A refused address stays refused until the configuration changes. People can resend the message
  // then.
  const isFinal = raw instanceof OutboundError && raw.reason === 'target_refused'
  return { type: 'failed', error: toError(raw).message, isFinal }
}

/** Makes the audit record of a settled message; undefined for an attempt that will be repeated. */
function settledEntry(
  message: StoredMessage,
  progress: OutboxProgress,
  nowMs: number,
): AuditEntry | undefined {
  const { state, attempts, lastStatus, lastError } = progress
  if (state === 'pending') return undefined
  const { id, webhookId, subject } = message
  return {
    timeMs: nowMs,
    source: sourceOf(message.topic),
    kind: `${message.topic}.${state}`,
    application: message.application,
    executionId: message.executionId,
    status: state,
    body: Buffer.from(
      JSON.stringify({
        message: id,
        webhookId,
        subject,
        url: shownTarget(message),
        attempts,
        lastStatus,
        lastError,
      }),
    ),
  }
}
