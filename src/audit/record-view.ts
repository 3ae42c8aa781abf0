import { z } from 'zod'

import type { AuditHead, AuditSource } from '../store/ports/audit-store.js'

/** A record in the API, without absent members. */
export interface RecordView {
  readonly seq: number
  /** Time of the event, ISO 8601 in UTC. */
  readonly at: string
  /** Time of storage. */
  readonly recordedAt: string
  readonly source: AuditSource
  readonly kind: string
  readonly application: string | undefined
  readonly pipeline: string | undefined
  readonly executionId: string | undefined
  readonly stage: string | undefined
  readonly user: string | undefined
  readonly status: string | undefined
  readonly origin: string | undefined
  readonly eventId: string | undefined
  readonly bodyBytes: number
  readonly hash: string
}

/** Maps a record to its form in the API. */
export function toRecordView(head: AuditHead): RecordView {
  return {
    seq: head.seq,
    at: new Date(head.timeMs).toISOString(),
    recordedAt: new Date(head.recordedMs).toISOString(),
    source: head.source,
    kind: head.kind,
    application: head.application,
    pipeline: head.pipeline,
    executionId: head.executionId,
    stage: head.stage,
    user: head.user,
    status: head.status,
    origin: head.origin,
    eventId: head.eventId,
    bodyBytes: head.bodyBytes,
    hash: head.hash,
  }
}

/** Optional labels of a record in queries and responses. */
export const recordLabels = {
  application: z.string().optional(),
  pipeline: z.string().optional(),
  executionId: z.string().optional(),
  stage: z.string().optional(),
  user: z.string().optional(),
  status: z.string().optional(),
}
