import type { MessagePort } from 'node:worker_threads'
import { serveCalls } from '../../calls/serve-calls.js'
import type { FindOperation } from '../../ports/operation.js'
import type { Readers } from '../../ports/readers.js'
import { toStoreError } from '../engine/sqlite-error.js'
import { withMaintenance } from '../maintenance/maintenance-operations.js'
import type { SqliteTransaction } from '../maintenance/sqlite-context.js'
import { connectReading, connectWriting } from './connect.js'
import type { ThreadRole } from '../../calls/call.js'
import type { KeptFile } from '../engine/kept-files.js'

/** Serves the thread that writes. */
export function serveWrites(
  port: MessagePort,
  { path, files }: StoreThreadOptions,
  operations: FindOperation<SqliteTransaction>,
): void {
  const connect = () => connectWriting(path, { operations: withMaintenance(operations), files })
  serveCalls(port, { connect, toError })
}

/** Serves the thread that reads. */
export function serveReads(
  port: MessagePort,
  { path, files }: StoreThreadOptions,
  operations: FindOperation<Readers>,
): void {
  serveCalls(port, { connect: () => connectReading(path, operations, files), toError })
}

function toError(action: string, raw: unknown): Error {
  return toStoreError(`${action} tidegate.db`, raw)
}

/** Start data of a thread of the store. */
export interface StoreThreadOptions {
  readonly path: string
  readonly role: ThreadRole
  /** Writes are refused if one of these files was moved or replaced. */
  readonly files: readonly KeptFile[]
}
