import type { AuditExportPart, AuditExportQuery } from '../store/ports/audit-export.js'
import type {
  AuditCheckpoint,
  AuditHead,
  AuditPageQuery,
  AuditTextPage,
  AuditTextQuery,
  ChainCheck,
  ChainEnd,
  RemovedRecords,
} from '../store/ports/audit-store.js'
import type { ReadOperation } from '../store/ports/readers.js'
import type { WriteOperation } from '../store/ports/transaction.js'
import { recordDecisions } from './record-decisions.js'
import { recordRevokedSession } from './record-revoked-session.js'
import { recordPolicyChange } from './record-policy-change.js'

/** Adds a checkpoint. Raises `conflict` if the chain has no such link. */
export const addCheckpoint: WriteOperation<AuditCheckpoint, null> = {
  name: 'audit.add-checkpoint',
  apply: async ({ audit }, checkpoint) => {
    await audit.addCheckpoint(checkpoint)
    return null
  },
}

/** Removes some of the oldest records up to a retention checkpoint. */
export const deleteThrough: WriteOperation<{ readonly seq: number; readonly limit: number }, RemovedRecords> =
  {
    name: 'audit.delete-through',
    isBackground: true,
    repeats: true,
    apply: ({ audit }, { seq, limit }) => audit.deleteThrough(seq, limit),
  }

/** A page in the order of time. */
export const readPage: ReadOperation<AuditPageQuery, readonly AuditHead[]> = {
  name: 'audit.page',
  apply: ({ audit }, query) => audit.page(query),
}

/** A page of a text search. */
export const readTextPage: ReadOperation<AuditTextQuery, AuditTextPage> = {
  name: 'audit.text-page',
  apply: ({ audit }, query) => audit.textPage(query),
}

/** Checks a part of the chain. */
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

/** Reads records and formats them, so that only bytes cross to the sending thread. */
export const exportChunk: ReadOperation<AuditExportQuery, AuditExportPart> = {
  name: 'audit.export-chunk',
  apply: ({ auditExport }, query) => auditExport.part(query),
}

export const auditWrites = [
  addCheckpoint,
  deleteThrough,
  recordDecisions,
  recordPolicyChange,
  recordRevokedSession,
] as const
export const auditReads = [readPage, readTextPage, checkChain, readCheckpoints, exportChunk] as const
