import { createHash } from 'node:crypto'

/** The columns that a link covers, in this order; the body as it is stored. */
export interface ChainedRow {
  readonly seq: number
  readonly time_ms: number
  readonly source: string
  readonly kind: string
  readonly application: string | null
  readonly pipeline: string | null
  readonly execution_id: string | null
  readonly stage: string | null
  readonly user: string | null
  readonly status: string | null
  readonly origin: string | null
  readonly event_id: string | null
  readonly body: Uint8Array
}

/** What the first record of a trail is linked to. */
export const CHAIN_START = Buffer.alloc(32)

/** The link of a record: SHA-256 over the link before it, the record's columns as a JSON list, and its stored body. */
export function chainHash(previous: Uint8Array, row: ChainedRow): Buffer {
  const columns = [
    row.seq,
    row.time_ms,
    row.source,
    row.kind,
    row.application,
    row.pipeline,
    row.execution_id,
    row.stage,
    row.user,
    row.status,
    row.origin,
    row.event_id,
  ]
  return createHash('sha256').update(previous).update(JSON.stringify(columns)).update(row.body).digest()
}
