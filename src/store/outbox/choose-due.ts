/** A message that is due. */
export interface DueMessage {
  readonly id: number
  readonly receiver: string
  /** Due time, in epoch milliseconds. */
  readonly dueMs: number
}

interface Turn extends DueMessage {
  /** Number of messages that its receiver gets before it. */
  readonly rank: number
}

/**
 * Returns the ids of at most `limit` messages to send now. Receivers take turns: the receiver with
 * the fewest messages under way comes first, and among equals the message that has been due the
 * longest. A long queue gives a receiver no precedence.
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
