import { operationRegistry } from '../../ports/operation.js'
import type { FindOperation, Operation } from '../../ports/operation.js'
import type { SqliteTransaction } from './sqlite-context.js'

type MaintenanceOperation<Args, Result> = Operation<SqliteTransaction, Args, Result>

/**
 * Makes further records quick to find by their columns: takes up `records` of them where none are being entered, and enters at most
 * `values` of theirs; returns whether some are left.
 */
export const indexColumns: MaintenanceOperation<
  { readonly records: number; readonly values: number },
  boolean
> = {
  name: 'sqlite.index-columns',
  yields: true,
  repeats: true,
  apply: ({ trailIndexes }, { records, values }) =>
    Promise.resolve(trailIndexes.columns.extend(records, values)),
}

/** Moves at most `limit` event ids from memory to their table; returns whether there is more to move. */
export const settleEventIds: MaintenanceOperation<{ readonly limit: number }, boolean> = {
  name: 'sqlite.settle-event-ids',
  yields: true,
  repeats: true,
  apply: ({ trailIndexes }, { limit }) => Promise.resolve(trailIndexes.eventIds.settle(limit)),
}

/** Makes further records found by free text; returns how many. */
export const indexText: MaintenanceOperation<{ readonly limit: number; readonly maxBytes: number }, number> =
  {
    name: 'sqlite.index-text',
    yields: true,
    repeats: true,
    apply: ({ trailIndexes }, { limit, maxBytes }) =>
      Promise.resolve(trailIndexes.indexText(limit, maxBytes)),
  }

/** Joins parts of the index of free text, for about this long; returns whether there may be more to join. */
export const mergeText: MaintenanceOperation<{ readonly pages: number; readonly maxMs: number }, boolean> = {
  name: 'sqlite.merge-text',
  yields: true,
  repeats: true,
  apply: ({ trailIndexes }, { pages, maxMs }) => Promise.resolve(trailIndexes.mergeText(pages, maxMs)),
}

/** Gives free space back to the file system, for about this long; returns whether more is left that can be. */
export const releaseFreeSpace: MaintenanceOperation<
  { readonly maxBytes: number; readonly maxMs: number },
  boolean
> = {
  name: 'sqlite.release-free-space',
  yields: true,
  repeats: true,
  apply: ({ freeSpace }, { maxBytes, maxMs }) => Promise.resolve(freeSpace.release(maxBytes, maxMs)),
}

const maintenanceOperations = [indexColumns, settleEventIds, indexText, mergeText, releaseFreeSpace] as const
const isOfMaintenance = new Set(maintenanceOperations.map(({ name }) => name))
const findMaintenance = operationRegistry<SqliteTransaction>(maintenanceOperations)

/** Finds the operations of maintenance besides those of features. */
export function withMaintenance(
  features: FindOperation<SqliteTransaction>,
): FindOperation<SqliteTransaction> {
  return (name) => (isOfMaintenance.has(name) ? findMaintenance(name) : features(name))
}
