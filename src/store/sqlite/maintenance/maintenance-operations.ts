import { operationRegistry } from '../../ports/operation.js'
import type { FindOperation, Operation } from '../../ports/operation.js'
import type { SqliteTransaction } from './sqlite-context.js'

type MaintenanceOperation<Args, Result> = Operation<SqliteTransaction, Args, Result>

/**
 * Adds records to the index by columns. Collects `records` records if none are collected, and
 * inserts at most `values` of their postings. Returns whether some are left.
 */
export const indexColumns: MaintenanceOperation<
  { readonly records: number; readonly values: number },
  boolean
> = {
  name: 'sqlite.index-columns',
  isBackground: true,
  repeats: true,
  apply: ({ trailIndexes }, { records, values }) =>
    Promise.resolve(trailIndexes.columns.extend(records, values)),
}

/** Moves at most `limit` event ids from memory to their table. Returns whether more are left. */
export const settleEventIds: MaintenanceOperation<{ readonly limit: number }, boolean> = {
  name: 'sqlite.settle-event-ids',
  isBackground: true,
  repeats: true,
  apply: ({ trailIndexes }, { limit }) => Promise.resolve(trailIndexes.eventIds.settle(limit)),
}

/** Adds records to the text index. Returns their number. */
export const indexText: MaintenanceOperation<{ readonly limit: number; readonly maxBytes: number }, number> =
  {
    name: 'sqlite.index-text',
    isBackground: true,
    repeats: true,
    apply: ({ trailIndexes }, { limit, maxBytes }) =>
      Promise.resolve(trailIndexes.indexText(limit, maxBytes)),
  }

/**
 * Merges segments of the text index for about `maxMs`. Returns whether there may be more to merge.
 */
export const mergeText: MaintenanceOperation<{ readonly pages: number; readonly maxMs: number }, boolean> = {
  name: 'sqlite.merge-text',
  isBackground: true,
  repeats: true,
  apply: ({ trailIndexes }, { pages, maxMs }) => Promise.resolve(trailIndexes.mergeText(pages, maxMs)),
}

/** Gives free space back to the file system for about `maxMs`. Returns whether more is left. */
export const releaseFreeSpace: MaintenanceOperation<
  { readonly maxBytes: number; readonly maxMs: number },
  boolean
> = {
  name: 'sqlite.release-free-space',
  isBackground: true,
  repeats: true,
  apply: ({ freeSpace }, { maxBytes, maxMs }) => Promise.resolve(freeSpace.release(maxBytes, maxMs)),
}

const maintenanceOperations = [indexColumns, settleEventIds, indexText, mergeText, releaseFreeSpace] as const
const isOfMaintenance = new Set(maintenanceOperations.map(({ name }) => name))
const findMaintenance = operationRegistry<SqliteTransaction>(maintenanceOperations)

/** Adds the operations of maintenance to those of features. */
export function withMaintenance(
  features: FindOperation<SqliteTransaction>,
): FindOperation<SqliteTransaction> {
  return (name) => (isOfMaintenance.has(name) ? findMaintenance(name) : features(name))
}
