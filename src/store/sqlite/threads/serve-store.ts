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

/** What the thread that writes does all its life: opens the database and runs the calls that it is sent. */
export function serveWrites(
  port: MessagePort,
  { path, files }: StoreThreadOptions,
  operations: FindOperation<SqliteTransaction>,
): void {
  const connect = () => connectWriting(path, { operations: withMaintenance(operations), files })
  serveCalls(port, { connect, toError })
}

/** The same for the thread that reads. */
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

/** What a thread of the store is started with. */
export interface StoreThreadOptions {
  readonly path: string
  readonly role: ThreadRole
  /** What must be at its path for anything to be written. */
  readonly files: readonly KeptFile[]
}
