import type { AnalysisTables } from './analysis-tables.js'
import type { AuditCheckpointTable, AuditTable } from './audit-table.js'
import type {
  GateDelegationsTable,
  GateInstancesTable,
  InstanceDocumentsTable,
  GateReviewsTable,
  GatesTable,
} from './gate-tables.js'
import type { ExceptionTable } from './exception-table.js'
import type { OutboxTable } from './outbox-table.js'
import type { RegistryTables } from './registry-table.js'

/** The durable tables, as Kysely sees them. */
export interface ServiceDatabase extends AnalysisTables, RegistryTables {
  audit: AuditTable
  audit_checkpoints: AuditCheckpointTable
  outbox: OutboxTable
  gates: GatesTable
  gate_instances: GateInstancesTable
  gate_papers: InstanceDocumentsTable
  gate_reviews: GateReviewsTable
  gate_delegations: GateDelegationsTable
  exceptions: ExceptionTable
  notification_progress: { name: string; progress: string }
}
