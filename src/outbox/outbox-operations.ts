import { AppError } from '../errors/app-error.js'
import { redactSecrets } from '../lib/redaction/redact.js'
import type { AuditEntry } from '../store/ports/audit-store.js'
import type { LatestTimes, Lease, LeaseQuery, OutboxFilter, OutboxProgress, OutboxState, StoredMessage, OutboxReader } from '../store/ports/outbox-store.js'
import type { ReadOperation } from '../store/ports/readers.js'
import type { WriteOperation, Writer } from '../store/ports/transaction.js'
import { sourceOf } from './message-labels.js'

/** Takes the messages that are due, so that no one else does until the lease ends. */
export const leaseMessages: WriteOperation<LeaseQuery, Lease> = {
  name: 'outbox.lease',
  apply: ({ outbox }, query) => outbox.lease(query),
}

/** At the start: what was under way when a process ended is due again. */
export const releaseLeases: WriteOperation<{ readonly nowMs: number }, void> = {
  name: 'outbox.release-leases',
  apply: ({ outbox }, { nowMs }) => outbox.releaseLeases(nowMs),
}

/** For a clock that was set back: no message waits until a time that lies ahead for days now. */
export const limitWaits: WriteOperation<LatestTimes, void> = {
  name: 'outbox.limit-waits',
  apply: ({ outbox }, latest) => outbox.limitWaits(latest),
}

/** What an attempt gave, with the record of it where a message was settled. */
export interface RecordedAttempt {
  readonly progress: OutboxProgress
  readonly entry: AuditEntry | undefined
}

/** Keeps what became of a message. */
export const recordAttempt: WriteOperation<RecordedAttempt, void> = {
  name: 'outbox.record-attempt',
  apply: async ({ outbox, audit }, { progress, entry }) => {
    const isRecorded = await outbox.record(progress)
    if (isRecorded && entry !== undefined) await audit.append(entry)
  },
}

/** A message as it may be shown. */
export type ShownMessage = Omit<StoredMessage, 'body'> & {
  /** JSON text; undefined where it is left out. */
  readonly body: string | undefined
}

export interface ResendRequest {
  readonly id: number
  readonly nowMs: number
  readonly user: string | undefined
  readonly origin: string | undefined
}

/** Sends a message once more, with its whole time before it. Raises `not_found`, or `conflict` while it is still being tried. */
export const resendMessage: WriteOperation<ResendRequest, StoredMessage> = {
  name: 'outbox.resend',
  apply: async ({ outbox, audit }, { id, nowMs, user, origin }) => {
    const message = await outbox.find(id)
    if (message === undefined) throw unknownMessage(id)
    if (message.state === 'pending') {
      throw new AppError('conflict', `message ${id} is still being tried: there is nothing to send again`)
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

/** Deletes messages that were settled long ago, a few at a time. */
export const purgeSettled: WriteOperation<{ readonly beforeMs: number; readonly limit: number }, number> = {
  name: 'outbox.purge-settled',
  yields: true,
  repeats: true,
  apply: ({ outbox }, { beforeMs, limit }) => outbox.deleteSettledBefore(beforeMs, limit),
}

/** Lists messages, newest first. */
export const listMessages: ReadOperation<OutboxFilter, readonly StoredMessage[]> = {
  name: 'outbox.list',
  apply: ({ outbox }, filter) => outbox.list(filter),
}

/** Of the bodies of one answer, in characters. */
const MAX_SHOWN_BODIES = 1024 * 1024

/** Lists messages with bodies without secrets, which takes long for many; beyond a megabyte of them they are left out. */
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

/** A message whose body, JSON text, may be shown; a relayed webhook may hold secrets. */
export function withoutSecrets(message: StoredMessage): ShownMessage {
  return { ...message, body: redactSecrets(Buffer.from(message.body)).text.toString() }
}

/** How many messages are in each state. */
export const countMessages: ReadOperation<null, Readonly<Record<OutboxState, number>>> = {
  name: 'outbox.count',
  apply: ({ outbox }) => outbox.count(),
}

/** The error for a message that is not there. */
function unknownMessage(id: number): AppError {
  return new AppError('not_found', `there is no message ${id} in the outbox`)
}

/** What the store can be asked of the outbox. */
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

/** At most this many in one transaction, so that nobody waits for all of them. */
const AT_ONCE = 500

/** Deletes all messages that were settled before a time; returns how many. Writes nothing where there are none. */
export async function purgeMessages({ writer, outbox }: PurgeDeps, beforeMs: number): Promise<number> {
  const oldestMs = await outbox.oldestSettledMs()
  if (oldestMs === undefined || oldestMs >= beforeMs) return 0
  let all = 0
  for (;;) {
    const deleted = await writer.run(purgeSettled, { beforeMs, limit: AT_ONCE })
    all += deleted
    if (deleted < AT_ONCE) return all
  }
}
