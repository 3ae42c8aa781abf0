import type { Generated } from 'kysely'
import type { OutboxState, OutboxTopic, StoredMessage } from '../ports/outbox-store.js'

/** The outbox's own table, as Kysely sees it. */
export interface OutboxTable {
  id: Generated<number>
  webhook_id: string
  topic: OutboxTopic
  url: string
  receiver: string
  headers: string | null
  body: string
  subject: string | null
  application: string | null
  execution_id: string | null
  state: OutboxState
  attempts: number
  created_ms: number
  tried_since_ms: number
  /** Lease expiry while the message is leased. */
  next_attempt_ms: number
  leased_until_ms: number | null
  last_status: number | null
  last_error: string | null
  settled_ms: number | null
}

/** A row as it is read. */
export type OutboxRow = Omit<OutboxTable, 'id'> & { readonly id: number }

/** Columns of a new message. */
export const NEW_MESSAGE_COLUMNS = [
  'webhook_id',
  'topic',
  'url',
  'receiver',
  'headers',
  'body',
  'subject',
  'application',
  'execution_id',
  'state',
  'attempts',
  'created_ms',
  'tried_since_ms',
  'next_attempt_ms',
] as const satisfies readonly (keyof OutboxRow)[]
export type NewMessageRow = Pick<OutboxRow, (typeof NEW_MESSAGE_COLUMNS)[number]>

export function toStoredMessage(row: OutboxRow): StoredMessage {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    topic: row.topic,
    url: row.url,
    receiver: row.receiver,
    headers: row.headers === null ? undefined : (JSON.parse(row.headers) as Record<string, string>),
    body: row.body,
    subject: row.subject ?? undefined,
    application: row.application ?? undefined,
    executionId: row.execution_id ?? undefined,
    state: row.state,
    attempts: row.attempts,
    createdMs: row.created_ms,
    triedSinceMs: row.tried_since_ms,
    nextAttemptMs: row.next_attempt_ms,
    lastStatus: row.last_status ?? undefined,
    lastError: row.last_error ?? undefined,
    settledMs: row.settled_ms ?? undefined,
  }
}
