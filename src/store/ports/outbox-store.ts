/** Topic of a message. Each topic has its own credentials and allowed targets. */
export type OutboxTopic = 'gate.callback' | 'webhook.relay' | 'analysis.notification' | 'notification'

/** A message for one receiver. */
export interface OutboxMessage {
  readonly topic: OutboxTopic
  /** `notification:CHANNEL` for the topic `notification`, whose channels have secret URLs. */
  readonly url: string
  /** JSON text. */
  readonly body: string
  /** Headers in addition to those of the topic. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Subject of the message, such as `gate-instance:17`. Messages can be listed and sent again by
   * subject.
   */
  readonly subject?: string | undefined
  /** Application and execution of the message, for the trail. */
  readonly application?: string | undefined
  readonly executionId?: string | undefined
  /** Epoch milliseconds. */
  readonly createdMs: number
}

export type OutboxState = 'pending' | 'delivered' | 'given_up'

/** A stored message with its delivery state. */
export interface StoredMessage extends OutboxMessage {
  readonly id: number
  /** Identifies the message to its receiver. Every attempt has the same one. */
  readonly webhookId: string
  /** Scheme, host and port of the URL, or the URL of a notification. */
  readonly receiver: string
  readonly state: OutboxState
  readonly attempts: number
  /** Time of the next attempt while the message is pending. */
  readonly nextAttemptMs: number
  /** Start of the period after which the message is given up. */
  readonly triedSinceMs: number
  readonly lastStatus?: number | undefined
  readonly lastError?: string | undefined
  readonly settledMs?: number | undefined
}

/** Query for messages to send now. */
export interface LeaseQuery {
  readonly nowMs: number
  /** Lease expiry, in epoch milliseconds. */
  readonly leasedUntilMs: number
  readonly limit: number
  readonly limitPerReceiver: number
  /** Number of messages under way by receiver. */
  readonly underWay: Readonly<Record<string, number>>
}

/** Messages to send, and the time of the next lease; undefined if no other message waits. */
export interface Lease {
  readonly messages: readonly StoredMessage[]
  readonly nextDueMs: number | undefined
  /** Whether more messages may be due, because of a limit or in another process. */
  readonly isMoreDue: boolean
}

/** Result of an attempt. */
export interface OutboxProgress {
  readonly id: number
  readonly state: OutboxState
  readonly attempts: number
  readonly nextAttemptMs: number
  readonly lastStatus?: number | undefined
  readonly lastError?: string | undefined
  readonly settledMs?: number | undefined
}

/** Latest due times of waiting messages, in epoch milliseconds. */
export interface LatestTimes {
  readonly nextAttemptMs: number
  readonly leasedUntilMs: number
}

/** Writes the outbox. */
export interface OutboxRepository {
  /** Stores a message until it is delivered or given up. Returns its number. */
  enqueue(message: OutboxMessage): Promise<number>
  lease(query: LeaseQuery): Promise<Lease>
  /**
   * Records an attempt. Returns false if another process has taken the message, whose result then
   * counts.
   */
  record(progress: OutboxProgress): Promise<boolean>
  /** Releases the leases of processes that are gone. Called at the start. */
  releaseLeases(nowMs: number): Promise<void>
  /** Moves due times and lease ends that are later than these. For a clock that was set back. */
  limitWaits(latest: LatestTimes): Promise<void>
  find(id: number): Promise<StoredMessage | undefined>
  /** States of the messages of a subject. */
  statesOf(subject: string): Promise<readonly OutboxState[]>
  /** Makes a message due now, and restarts the period after which it is given up. */
  restart(id: number, nowMs: number): Promise<void>
  /**
   * Deletes at most `limit` messages that were settled before a time. Returns the number of deleted
   * messages.
   */
  deleteSettledBefore(timeMs: number, limit: number): Promise<number>
}

/** Filter of a list of messages, newest first. */
export interface OutboxFilter {
  readonly state?: OutboxState | undefined
  readonly subject?: string | undefined
  /** Earliest creation, inclusive, in epoch milliseconds; `toMs` is exclusive. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** Only messages with a lower number. */
  readonly beforeId?: number | undefined
  readonly limit: number
}

/** Reads the outbox. */
export interface OutboxReader {
  list(filter: OutboxFilter): Promise<readonly StoredMessage[]>
  find(id: number): Promise<StoredMessage | undefined>
  hasPending(): Promise<boolean>
  /** Earliest time at which a message was settled; undefined if none was. */
  oldestSettledMs(): Promise<number | undefined>
  /** Number of messages by state. */
  count(): Promise<Readonly<Record<OutboxState, number>>>
}
