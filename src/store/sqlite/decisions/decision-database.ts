import type { DecisionTable } from '../../tables/decision-table.js'
import type { OpenDatabaseOptions } from '../engine/open-database.js'

/** How far the log has been shipped to a shared one; one row, where it is shipped at all. */
export interface ShippingTable {
  id: number
  epoch: number
  through_seq: number
  missing: number
}

/** Each package that a decision names; triggers of the table of decisions write it. */
export interface DecisionPackagesTable {
  package: string
  time_ms: number
  seq: number
}

/** All tables of `decisions.db`. */
export interface DecisionDatabase {
  decisions: DecisionTable
  decision_packages: DecisionPackagesTable
  shipping: ShippingTable
}

/** How `decisions.db` is opened; measurements are in docs/reference/performance.md. */
export function decisionDatabaseOptions(path: string): OpenDatabaseOptions {
  return {
    path,
    synchronous: 'normal',
    applicationId: 0x54_47_64_6c,
    pageSize: 32_768,
    incrementalVacuum: true,
    walAutocheckpointPages: 512,
  }
}
