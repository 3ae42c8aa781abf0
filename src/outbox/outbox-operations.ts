import { AppError } from '../errors/app-error.js'
import { redactSecrets } from '../lib/redaction/redact.js'
import type { AuditEntry } from '../store/ports/audit-store.js'
import type {
  LatestTimes,
  Lease,
  LeaseQuery,
  OutboxFilter,
  OutboxProgress,
  OutboxState,
  StoredMessage,
  OutboxReader,
} from '../store/ports/outbox-store.js'
import type { ReadOperation } from '../store/ports/readers.js'
import type { WriteOperation, Writer } from '../store/ports/transaction.js'
import { sourceOf } from './message-labels.js'

/** Leases due messages. */
export const leaseMessages: WriteOperation<LeaseQuery, Lease> = {
  name: 'outbox.lease',
  apply: ({ outbox }, query) => outbox.lease(query),
}

/** Releases the leases of an earlier process at the start. */
export const releaseLeases: WriteOperation<{ readonly nowMs: number }, void> = {
  name: 'outbox.release-leases',
  apply: ({ outbox }, { nowMs }) => outbox.releaseLeases(nowMs),
}

/** Limits waits after the clock was set back. */
export const limitWaits: WriteOperation<LatestTimes, void> = {
  name: 'outbox.limit-waits',
  apply: ({ outbox }, latest) => outbox.limitWaits(latest),
}

/** Result of an attempt, with the audit record of a settled message. */
export interface RecordedAttempt {
  readonly progress: OutboxProgress
  readonly entry: AuditEntry | undefined
}

/** Records an attempt. */
export const recordAttempt: WriteOperation<RecordedAttempt, void> = {
  name: 'outbox.record-attempt',
  apply: async ({ outbox, audit }, { progress, entry }) => {
    const isRecorded = await outbox.record(progress)
    if (isRecorded && entry !== undefined) await audit.append(entry)
  },
}

/** A message without secrets. */
export type ShownMessage = Omit<StoredMessage, 'body'> & {
  /** JSON text; undefined if omitted. */
  readonly body: string | undefined
}

export interface ResendRequest {
  readonly id: number
  readonly nowMs: number
  readonly user: string | undefined
  readonly origin: string | undefined
}

/**
 * Sends a message again with a new retry period. Raises `not_found`, or `conflict` for a pending
 * message.
 */
export const resendMessage: WriteOperation<ResendRequest, StoredMessage> = {
  name: 'outbox.resend',
  apply: async ({ outbox, audit }, { id, nowMs, user, origin }) => {
    const message = await outbox.find(id)
    if (message === undefined) throw unknownMessage(id)
    if (message.state === 'pending') {
      throw new AppError('conflict', `message ${id} is still pending and cannot be sent again`)
    }
    await outbox.restart(id, nowMs)
    await audit.append({
      timeMs: nowMs,
      source: sourceOf(message.topic),
      kind: `${message.topic}.resent`,
      application: message.application,
      executionId: message.executionId,
      user,
      origin,
      body: Buffer.from(
        JSON.stringify({ message: id, webhookId: message.webhookId, subject: message.subject }),
      ),
    })
    return { ...message, state: 'pending', attempts: 0, nextAttemptMs: nowMs, triedSinceMs: nowMs }
  },
}

/** Deletes some messages that were settled long ago. */
const purgeSettled: WriteOperation<{ readonly beforeMs: number; readonly limit: number }, number> = {
  name: 'outbox.purge-settled',
  isBackground: true,
  repeats: true,
  apply: ({ outbox }, { beforeMs, limit }) => outbox.deleteSettledBefore(beforeMs, limit),
}

/** Lists messages, newest first. */
export const listMessages: ReadOperation<OutboxFilter, readonly StoredMessage[]> = {
  name: 'outbox.list',
  apply: ({ outbox }, filter) => outbox.list(filter),
}

/** Highest length of the bodies in one response. */
const MAX_SHOWN_BODIES = 1024 * 1024

/**
 * Lists messages with redacted bodies, which is slow for many. Bodies beyond a megabyte in total
 * are omitted.
 */
export const showMessages: ReadOperation<OutboxFilter, readonly ShownMessage[]> = {
  name: 'outbox.show',
  apply: async ({ outbox }, filter) => {
    let shown = 0
    return (await outbox.list(filter)).map((message) => {
      shown += message.body.length
      return shown > MAX_SHOWN_BODIES ? { ...message, body: undefined } : withoutSecrets(message)
    })
  },
}

/** Redacts the body of a message, since a relayed webhook may contain secrets. */
export function withoutSecrets(message: StoredMessage): ShownMessage {
  return { ...message, body: redactSecrets(Buffer.from(message.body)).text.toString() }
}

/** Number of messages by state. */
export const countMessages: ReadOperation<null, Readonly<Record<OutboxState, number>>> = {
  name: 'outbox.count',
  apply: ({ outbox }) => outbox.count(),
}

function unknownMessage(id: number): AppError {
  return new AppError('not_found', `there is no message ${id} in the outbox`)
}

/** Read operations of the outbox. */
export const outboxReads = [listMessages, showMessages, countMessages] as const
export const outboxWrites = [
  leaseMessages,
  releaseLeases,
  limitWaits,
  recordAttempt,
  resendMessage,
  purgeSettled,
] as const

interface PurgeDeps {
  readonly writer: Writer
  readonly outbox: Pick<OutboxReader, 'oldestSettledMs'>
}

/** Messages per transaction, so that others wait only briefly. */
const MESSAGES_PER_STEP = 500

/**
 * Deletes all messages settled before a time. Returns the number of deleted messages. Writes
 * nothing if there are none.
 */
export async function purgeMessages({ writer, outbox }: PurgeDeps, beforeMs: number): Promise<number> {
  const oldestMs = await outbox.oldestSettledMs()
  if (oldestMs === undefined || oldestMs >= beforeMs) return 0
  let all = 0
  for (;;) {
    const deleted = await writer.run(purgeSettled, { beforeMs, limit: MESSAGES_PER_STEP })
    all += deleted
    if (deleted < MESSAGES_PER_STEP) return all
  }
}
