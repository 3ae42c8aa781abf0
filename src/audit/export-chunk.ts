import type { AuditExportPart, AuditExportQuery } from '../store/audit-export.js'
import type { ReadOperation } from '../store/readers.js'

/** Reads records and writes them as text, so that only bytes cross to the thread that sends them. */
export const exportChunk: ReadOperation<AuditExportQuery, AuditExportPart> = {
  name: 'audit.export-chunk',
  apply: ({ auditExport }, query) => auditExport.part(query),
}
