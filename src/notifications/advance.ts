import type { Notice, NotificationRule } from './notice.js'
import { rulesFor } from './notice.js'

/** Denials of a pipeline for one channel. */
export interface DenialGroup {
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

export interface DenialTimes {
  /** How long denials are collected before the first message. */
  readonly collectMs: number
  /** Time between two messages. */
  readonly intervalMs: number
}

/** A notice for a channel. */
export interface AddressedNotice {
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
