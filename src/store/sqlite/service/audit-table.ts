/** The audit trail's own table, as Kysely sees it. */
export interface AuditTable {
  seq: number
  time_ms: number
  source: string
  kind: string
  application: string | null
  pipeline: string | null
  execution_id: string | null
  stage: string | null
  user: string | null
  status: string | null
  origin: string | null
  event_id: string | null
  /** SHA-256 over the record before it and this one. */
  hash: Uint8Array
  /** The body, deflated. */
  body: Uint8Array
}
