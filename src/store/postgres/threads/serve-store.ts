import type { MessagePort } from 'node:worker_threads'
import { serveCalls } from '../../calls/serve-calls.js'
import type { FindOperation } from '../../ports/operation.js'
import type { Readers } from '../../ports/readers.js'
import type { Transaction } from '../../ports/transaction.js'
import { toStoreError } from '../engine/postgres-error.js'
import { connectReading } from '../calls/read-connection.js'
import { connectWriting } from '../calls/write-connection.js'
import type { ThreadRole } from '../../calls/call.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'

/** Serves the thread that writes. */
export function serveWrites(
  port: MessagePort,
  { settings, owner }: PostgresThreadOptions,
  operations: FindOperation<Transaction>,
): void {
  serveCalls(port, { connect: () => connectWriting(settings, owner, operations), toError })
}

/** Serves the thread that reads. */
export function serveReads(
  port: MessagePort,
  { settings }: PostgresThreadOptions,
  operations: FindOperation<Readers>,
): void {
  serveCalls(port, { connect: () => connectReading(settings, operations), toError })
}

function toError(action: string, raw: unknown): Error {
  return toStoreError(`${action} the database`, raw)
}

/** Start data of a thread of the store. */
export interface PostgresThreadOptions {
  readonly engine: 'postgres'
  readonly role: ThreadRole
  readonly settings: PostgresSettings
  /** Name of this process among those that share the database. */
  readonly owner: string
}
