import type { AuditExportPart, AuditExportQuery } from '../store/ports/audit-export.js'
import type {
  AuditCheckpoint,
  AuditHead,
  AuditPageQuery,
  AuditTextPage,
  AuditTextQuery,
  ChainCheck,
  ChainEnd,
} from '../store/ports/audit-store.js'
import type { ReadOperation } from '../store/ports/readers.js'
import type { WriteOperation } from '../store/ports/transaction.js'
import { recordDecisions } from './record-decisions.js'

/** Makes further records quick to find by their columns, in steps of so many values; gives whether those taken up need another. */
export const indexColumns: WriteOperation<{ readonly records: number; readonly values: number }, boolean> = {
  name: 'audit.index-columns',
  apply: ({ audit }, { records, values }) => audit.indexColumns(records, values),
}

/** Settles some of the newest event ids; gives whether there is more to do. */
export const settleEventIds: WriteOperation<{ readonly limit: number; readonly gathered: number }, boolean> =
  {
    name: 'audit.settle-event-ids',
    apply: ({ audit }, { limit, gathered }) => audit.settleEventIds(limit, gathered),
  }

/** Makes further records found by free text; gives how many. */
export const indexText: WriteOperation<{ readonly limit: number; readonly maxBytes: number }, number> = {
  name: 'audit.index-text',
  apply: ({ audit }, { limit, maxBytes }) => audit.indexText(limit, maxBytes),
}

/** Joins parts of the index of free text; gives whether there was something to join. */
export const mergeText: WriteOperation<{ readonly pages: number }, boolean> = {
  name: 'audit.merge-text',
  apply: ({ audit }, { pages }) => audit.mergeText(pages),
}

/** Keeps a checkpoint. Raises `conflict` where the chain has no such link. */
export const addCheckpoint: WriteOperation<AuditCheckpoint, null> = {
  name: 'audit.add-checkpoint',
  apply: async ({ audit }, checkpoint) => {
    await audit.addCheckpoint(checkpoint)
    return null
  },
}

/** Deletes some of the oldest records, up to a checkpoint of retention; gives how many. */
export const deleteThrough: WriteOperation<{ readonly seq: number; readonly limit: number }, number> = {
  name: 'audit.delete-through',
  apply: ({ audit }, { seq, limit }) => audit.deleteThrough(seq, limit),
}

/** Gives free space back to the file system. */
export const releaseFreeSpace: WriteOperation<{ readonly maxBytes: number }, null> = {
  name: 'audit.release-free-space',
  apply: async ({ audit }, { maxBytes }) => {
    await audit.releaseFreeSpace(maxBytes)
    return null
  },
}

/** A page in the order of time. */
export const readPage: ReadOperation<AuditPageQuery, readonly AuditHead[]> = {
  name: 'audit.page',
  apply: ({ audit }, query) => audit.page(query),
}

/** A page of what free text finds. */
export const readTextPage: ReadOperation<AuditTextQuery, AuditTextPage> = {
  name: 'audit.text-page',
  apply: ({ audit }, query) => audit.textPage(query),
}

/** Follows the chain over some records. */
export const checkChain: ReadOperation<
  { readonly from: ChainEnd; readonly limit: number; readonly links: readonly number[] },
  ChainCheck
> = {
  name: 'audit.check-chain',
  apply: ({ audit }, { from, limit, links }) => audit.check(from, limit, links),
}

/** All checkpoints. */
export const readCheckpoints: ReadOperation<null, readonly AuditCheckpoint[]> = {
  name: 'audit.checkpoints',
  apply: ({ audit }) => audit.checkpoints(0),
}

/** Reads records and writes them as text, so that only bytes cross to the thread that sends them. */
export const exportChunk: ReadOperation<AuditExportQuery, AuditExportPart> = {
  name: 'audit.export-chunk',
  apply: ({ auditExport }, query) => auditExport.part(query),
}

export const auditWrites = [
  settleEventIds,
  indexColumns,
  indexText,
  mergeText,
  addCheckpoint,
  deleteThrough,
  releaseFreeSpace,
  recordDecisions,
] as const
export const auditReads = [readPage, readTextPage, checkChain, readCheckpoints, exportChunk] as const
