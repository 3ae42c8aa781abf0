import type { AnalysisTables } from './analysis-tables.js'
import type { AuditTable } from './audit-table.js'
import type {
  GateInstancesTable,
  InstanceDocumentsTable,
  GateReviewsTable,
  GatesTable,
} from './gate-tables.js'
import type { OutboxTable } from './outbox-table.js'
import type { OpenDatabaseOptions } from '../engine/open-database.js'

/** All tables of `tidegate.db`, as Kysely sees them. */
export interface ServiceDatabase extends AnalysisTables {
  audit: AuditTable
  outbox: OutboxTable
  gates: GatesTable
  gate_instances: GateInstancesTable
  gate_papers: InstanceDocumentsTable
  gate_reviews: GateReviewsTable
}

/**
 * How `tidegate.db` is opened: the durable records of gates, outbox, trail, registry and analyses. They share a file so
 * that a change of state, its audit record and its outbox rows are one transaction.
 */
export function serviceDatabaseOptions(path: string): OpenDatabaseOptions {
  return {
    path,
    // An answer of 200 promises that what it acknowledges survives a power cut.
    synchronous: 'full',
    applicationId: 0x54_47_73_76,
    incrementalVacuum: true,
  }
}
