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

/** What the thread that writes does all its life: runs the calls that it is sent. */
export function serveWrites(
  port: MessagePort,
  { settings, owner }: PostgresThreadOptions,
  operations: FindOperation<Transaction>,
): void {
  serveCalls(port, { connect: () => connectWriting(settings, owner, operations), toError })
}

/** The same for the thread that reads. */
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

/** What a thread of the store is started with. */
export interface PostgresThreadOptions {
  readonly engine: 'postgres'
  readonly role: ThreadRole
  readonly settings: PostgresSettings
  /** Names this process among all that share the database. */
  readonly owner: string
}
