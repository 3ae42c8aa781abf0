import type { AuditFilter, AuditPosition } from './audit-store.js'

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** What an export says of a record, in this order; the body, where it is asked for, comes last. */
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

/** A part of an export: in the order of keeping where everything is asked for, otherwise in the order of time. */
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
  /** How many records are in them. */
  readonly count: number
  /** Where to go on; absent after the last part. */
  readonly next?: AuditPosition | undefined
}

/** Hands the trail out. */
export interface AuditExporter {
  part(query: AuditExportQuery): Promise<AuditExportPart>
}
