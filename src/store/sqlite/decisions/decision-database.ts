import type { PackedDecision } from './input-reader.js'
import type { OpenDatabaseOptions } from '../engine/open-database.js'

/** Progress of shipping: one row for each receiver. */
export interface ShippingTable {
  id: number
  /** The name of a sink, or an empty text for the shared log. */
  receiver: string
  epoch: number
  through_seq: number
  missing: number
}

/** Packages that decisions name. Triggers on `decisions` maintain it. */
export interface DecisionPackagesTable {
  package: string
  time_ms: number
  seq: number
}

/** All tables of `decisions.db`. */
export interface DecisionDatabase {
  decisions: PackedDecision
  decision_packages: DecisionPackagesTable
  shipping: ShippingTable
}

/** Returns the options of `decisions.db`; measurements are in docs/reference/performance.md. */
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
