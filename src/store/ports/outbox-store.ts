/** What a message is about, and so how it is sent: each topic has its own credentials and allowed targets. */
export type OutboxTopic = 'gate.callback' | 'webhook.relay' | 'analysis.notification'

/** One message for one receiver. */
export interface OutboxMessage {
  readonly topic: OutboxTopic
  readonly url: string
  /** JSON text. */
  readonly body: string
  /** Beside those that the topic itself sets. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** What it belongs to, `gate-instance:17`: messages of one subject can be listed and sent again. */
  readonly subject?: string | undefined
  /** Whose story it belongs to. */
  readonly application?: string | undefined
  readonly executionId?: string | undefined
  /** Milliseconds since the epoch. */
  readonly createdMs: number
}

export type OutboxState = 'pending' | 'delivered' | 'given_up'

/** A message with what has become of it. */
export interface StoredMessage extends OutboxMessage {
  readonly id: number
  /** Identifies the message to its receiver, the same at every attempt. */
  readonly webhookId: string
  /** Scheme, host and port of the URL. */
  readonly receiver: string
  readonly state: OutboxState
  readonly attempts: number
  /** When it is tried next, while it is pending. */
  readonly nextAttemptMs: number
  /** Since when attempts are counted against the time for giving up. */
  readonly triedSinceMs: number
  readonly lastStatus?: number | undefined
  readonly lastError?: string | undefined
  readonly settledMs?: number | undefined
}

/** Which messages may be taken to be sent now. */
export interface LeaseQuery {
  readonly nowMs: number
  /** Until when no one else takes them. */
  readonly leasedUntilMs: number
  readonly limit: number
  readonly limitPerReceiver: number
  /** How many are under way to a receiver already. */
  readonly underWay: Readonly<Record<string, number>>
}

/** Messages to send, and when to look again: undefined when nothing else waits. */
export interface Lease {
  readonly messages: readonly StoredMessage[]
  readonly nextDueMs: number | undefined
  /** Whether messages may be due that a limit left, or that one of another process may leave. */
  readonly isMoreDue: boolean
}

/** What became of a message by an attempt. */
export interface OutboxProgress {
  readonly id: number
  readonly state: OutboxState
  readonly attempts: number
  readonly nextAttemptMs: number
  readonly lastStatus?: number | undefined
  readonly lastError?: string | undefined
  readonly settledMs?: number | undefined
}

/** When messages that wait are due at the latest, in milliseconds since the epoch. */
export interface LatestTimes {
  readonly nextAttemptMs: number
  readonly leasedUntilMs: number
}

/** The writing side of the outbox. */
export interface OutboxRepository {
  /** Keeps a message until it is delivered or given up; gives its number. */
  enqueue(message: OutboxMessage): Promise<number>
  lease(query: LeaseQuery): Promise<Lease>
  /** Keeps what became of a message; returns false where it has been taken by somebody else meanwhile, whose word then counts. */
  record(progress: OutboxProgress): Promise<boolean>
  /** Lets messages be taken again that are leased to nobody who is still at work: for the start. */
  releaseLeases(nowMs: number): Promise<void>
  /** Has no message wait for longer than until these times, whether it waits for its next attempt or is leased: for a clock that was set back. */
  limitWaits(latest: LatestTimes): Promise<void>
  find(id: number): Promise<StoredMessage | undefined>
  /** The states of the messages of a subject. */
  statesOf(subject: string): Promise<readonly OutboxState[]>
  /** Makes a message due now, with its whole time before it again. */
  restart(id: number, nowMs: number): Promise<void>
  /** Deletes at most `limit` messages that were settled before a time; gives how many. */
  deleteSettledBefore(timeMs: number, limit: number): Promise<number>
}

/** Which messages to list, newest first. */
export interface OutboxFilter {
  readonly state?: OutboxState | undefined
  readonly subject?: string | undefined
  /** Begun from this time on, and before that one, in milliseconds. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** Only those with a lower number. */
  readonly beforeId?: number | undefined
  readonly limit: number
}

/** The reading side of the outbox. */
export interface OutboxReader {
  list(filter: OutboxFilter): Promise<readonly StoredMessage[]>
  find(id: number): Promise<StoredMessage | undefined>
  hasPending(): Promise<boolean>
  /** When the first of the settled messages was; undefined where none is. */
  oldestSettledMs(): Promise<number | undefined>
  /** How many messages are in each state. */
  count(): Promise<Readonly<Record<OutboxState, number>>>
}
