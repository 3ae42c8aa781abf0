import type { OutboxMessage } from '../store/ports/outbox-store.js'
import type { Reader, Readers } from '../store/ports/readers.js'
import type { Writer } from '../store/ports/transaction.js'
import { advance } from './advance.js'
import type { AddressedNotice, DenialTimes, Progress } from './advance.js'
import { storeProgress } from './notification-operations.js'
import { showNotice } from './notice.js'
import type { NotificationRule } from './notice.js'
import { readNotices } from './read-notices.js'
import { renderMessages } from './render-message.js'
import type { ChannelType } from './render-message.js'

/** A channel as its messages need it. */
export interface RenderedChannel {
  readonly type: ChannelType
  /** Recipients of mails. */
  readonly to: readonly string[]
}

export interface FollowerOptions {
  readonly reader: Reader
  readonly writer: Writer
  readonly lookups: Pick<Readers, 'audit' | 'notifications'>
  readonly channels: ReadonlyMap<string, RenderedChannel>
  readonly rules: readonly NotificationRule[]
  readonly denials: DenialTimes
  readonly publicUrl: string | undefined
  /** Age above which a record is not notified, in milliseconds. */
  readonly maxAgeMs: number
  readonly now: () => number
}

/** Records per transaction. Other writes run in between. */
const RECORDS_PER_STEP = 200

/**
 * Enqueues the messages about all new records of the trail. Returns the number of messages. Without
 * progress it starts at the end of the trail. Raises `conflict` if another process does the same.
 */
export async function followTrail(options: FollowerOptions, signal: AbortSignal): Promise<number> {
  let messages = 0
  for (;;) {
    const step = await takeStep(options)
    messages += step.messages
    if (!step.isMore || signal.aborted) return messages
  }
}

async function takeStep(
  options: FollowerOptions,
): Promise<{ readonly messages: number; readonly isMore: boolean }> {
  const { reader, writer, lookups, rules, denials, maxAgeMs, now } = options
  const [before, end] = await Promise.all([lookups.notifications.progress(), lookups.audit.end()])
  const nowMs = now()
  if (before === undefined) {
    const after = JSON.stringify({ seq: end.seq, groups: [] } satisfies Progress)
    await writer.run(storeProgress, { before, after, messages: [] })
    return { messages: 0, isMore: false }
  }
  const progress = JSON.parse(before) as Progress
  const isDue = progress.groups.some(({ dueMs }) => dueMs <= nowMs)
  if (progress.seq >= end.seq && !isDue) return { messages: 0, isMore: false }
  const events = [...new Set(rules.flatMap((rule) => rule.events))]
  const query = { afterSeq: progress.seq, limit: RECORDS_PER_STEP, fromMs: nowMs - maxAgeMs, events }
  const { notices, throughSeq, isMore } = await reader.run(readNotices, query)
  const next = advance(progress, { seq: throughSeq, notices }, rules, denials, nowMs)
  const messages = next.due.flatMap((due) => messagesOf(due, options, nowMs))
  const after = JSON.stringify(next.progress)
  await writer.run(storeProgress, { before, after, messages })
  return { messages: messages.length, isMore }
}

/** Makes the messages of a notice for its channel. */
export function messagesOf(
  { channel, notice, template }: AddressedNotice,
  { channels, publicUrl }: Pick<FollowerOptions, 'channels' | 'publicUrl'>,
  nowMs: number,
): readonly OutboxMessage[] {
  const { type, to } = channels.get(channel) ?? { type: 'webhook', to: [] }
  const shown = showNotice(notice, publicUrl, template)
  return renderMessages(type, notice, shown, to).map((body) => ({
    topic: 'notification',
    url: `notification:${channel}`,
    body,
    subject: notice.subject,
    application: notice.application,
    executionId: notice.execution,
    createdMs: nowMs,
  }))
}
