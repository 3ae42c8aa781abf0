/** A message whose time has come. */
export interface DueMessage {
  readonly id: number
  readonly receiver: string
  /** Since when it is due, in milliseconds since the epoch. */
  readonly dueMs: number
}

interface Turn extends DueMessage {
  /** How many its receiver is sent before it. */
  readonly rank: number
}

/**
 * The ids of at most `limit` messages to send now. Receivers take turns: who has the fewest under way comes first, and among
 * equals the message that has been due the longest. So neither a name nor a pile of messages gives one receiver precedence.
 */
export function chooseDue(
  due: readonly DueMessage[],
  underWay: Readonly<Record<string, number>>,
  limit: number,
): readonly number[] {
  const ranks = new Map(Object.entries(underWay))
  const turns = due.toSorted(byAge).map((message): Turn => {
    const rank = ranks.get(message.receiver) ?? 0
    ranks.set(message.receiver, rank + 1)
    return { ...message, rank }
  })
  const sorted = turns.toSorted((one, other) => one.rank - other.rank || byAge(one, other))
  return sorted.slice(0, limit).map(({ id }) => id)
}

function byAge(one: DueMessage, other: DueMessage): number {
  return one.dueMs - other.dueMs || one.id - other.id
}
