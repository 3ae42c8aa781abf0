import type { OutboxMessage } from '../store/ports/outbox-store.js'
import type { Reader, Readers } from '../store/ports/readers.js'
import type { Writer } from '../store/ports/transaction.js'
import { showNotice, rulesFor } from './notice.js'
import type { NotificationRule, Notice } from './notice.js'
import { storeProgress } from './notification-operations.js'
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

/** Denials of a pipeline for one channel. */
interface DenialGroup {
  readonly channel: string
  /** The first of them. `count` is the number since the last message, which may be 0. */
  readonly notice: Notice
  readonly template: string | undefined
  /** When the next message is due, in epoch milliseconds. */
  readonly dueMs: number
}

/** Progress of notifications. */
export interface Progress {
  /** The last record of the trail that was read. */
  readonly seq: number
  readonly groups: readonly DenialGroup[]
}

interface DenialTimes {
  /** How long denials are collected before the first message. */
  readonly collectMs: number
  /** Time between two messages. */
  readonly intervalMs: number
}

/** A notice for a channel. */
interface AddressedNotice {
  readonly channel: string
  readonly notice: Notice
  readonly template: string | undefined
}

/** Pipelines of one channel whose denials are counted separately at a time. */
const MAX_GROUPS = 20

/**
 * Adds notices to the progress. Returns the due messages: one for each notice and channel, but one
 * for all denials of a pipeline within a time.
 */
export function advance(
  { groups: earlier }: Progress,
  { seq, notices }: { readonly seq: number; readonly notices: readonly Notice[] },
  rules: readonly NotificationRule[],
  { collectMs, intervalMs }: DenialTimes,
  nowMs: number,
): { readonly progress: Progress; readonly due: readonly AddressedNotice[] } {
  const groups = new Map(earlier.map((group) => [keyOf(group.channel, group.notice), group]))
  const due: AddressedNotice[] = []
  for (const notice of notices) {
    for (const { channel, template } of rulesFor(rules, notice)) {
      if (notice.event === 'policy.denied')
        addDenial(groups, { channel, notice, template, dueMs: nowMs + collectMs })
      else due.push({ channel, notice, template })
    }
  }
  for (const [key, group] of groups) {
    const { channel, notice, template, dueMs } = group
    // A clock that was set back must not delay the message for long.
    const latestMs = nowMs + Math.max(collectMs, intervalMs)
    if (dueMs > nowMs) groups.set(key, { ...group, dueMs: Math.min(dueMs, latestMs) })
    else if (notice.count === 0) groups.delete(key)
    else {
      due.push({ channel, notice, template })
      groups.set(key, { ...group, notice: { ...notice, count: 0 }, dueMs: nowMs + intervalMs })
    }
  }
  return { progress: { seq, groups: [...groups.values()] }, due }
}

/** Counts a denial in its group, or in the group of all pipelines without one. */
function addDenial(groups: Map<string, DenialGroup>, denial: DenialGroup): void {
  const { channel, notice } = denial
  const own = groups.get(keyOf(channel, notice))
  const isFull = [...groups.values()].filter((group) => group.channel === channel).length >= MAX_GROUPS
  const added =
    own === undefined && isFull ? { ...notice, application: undefined, pipeline: undefined } : notice
  const key = keyOf(channel, added)
  const group = groups.get(key)
  const earlier = group?.notice.count ?? 0
  // Without one, this denial starts the next message.
  const first = earlier === 0 || group === undefined ? added : group.notice
  const total = { ...first, count: earlier + 1, path: earlier === 0 ? added.path : listPath(added) }
  groups.set(key, { ...denial, notice: total, dueMs: group?.dueMs ?? denial.dueMs })
}

/** The page of all denials. */
function listPath({ application }: Notice): string {
  const filter = new URLSearchParams({ outcome: 'deny', ...(application !== undefined && { application }) })
  return `/ui/decisions?${filter.toString()}`
}

function keyOf(channel: string, { application, pipeline }: Notice): string {
  return JSON.stringify([channel, application, pipeline])
}
