import type { AuditFilter, AuditPosition } from './audit-store.js'

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** Columns of an exported record, in order. If bodies are exported, the body follows. */
export const EXPORT_COLUMNS = [
  'seq',
  'at',
  'recordedAt',
  'source',
  'kind',
  'application',
  'pipeline',
  'executionId',
  'stage',
  'user',
  'status',
  'origin',
  'eventId',
  'bodyBytes',
  'hash',
] as const
export type ExportColumn = (typeof EXPORT_COLUMNS)[number]

/**
 * One part of an export. An export of all records is in the order of storage, any other in the
 * order of time.
 */
export interface AuditExportQuery {
  readonly filter: AuditFilter
  readonly format: ExportFormat
  readonly withBodies: boolean
  readonly limit: number
  readonly after?: AuditPosition | undefined
}

export interface AuditExportPart {
  /** Whole lines in UTF-8. */
  readonly lines: Uint8Array
  /** Number of records in `lines`. */
  readonly count: number
  /** Position after which the next part starts; absent after the last part. */
  readonly next?: AuditPosition | undefined
}

/** Exports the trail. */
export interface AuditExporter {
  part(query: AuditExportQuery): Promise<AuditExportPart>
}
