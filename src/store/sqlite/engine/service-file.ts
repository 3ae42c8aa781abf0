import type { OpenDatabaseOptions } from './open-database.js'

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
