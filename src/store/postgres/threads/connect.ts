import type { CallConnection } from '../../calls/call.js'
import type { Readers } from '../../ports/readers.js'
import type { Transaction } from '../../ports/transaction.js'
import { ReadConnection } from '../calls/read-connection.js'
import { WriteConnection } from '../calls/write-connection.js'
import { WriteContext } from '../calls/write-context.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'
import { Session } from '../engine/session.js'

/** A step of an operation is short, and others wait for the lock that it may hold. */
const WRITING = { statementMs: 15_000, lockMs: 10_000 }
/** Searches and exports. */
const READING = { statementMs: 120_000, lockMs: 10_000 }

/** The connection of a process that writes; it is made with the first call. */
export function connectWriting(settings: PostgresSettings, owner: string): CallConnection<Transaction> {
  const session = new Session(settings, WRITING)
  return new WriteConnection(session, new WriteContext(session, owner))
}

/** A connection that reads, made with the first call. */
export function connectReading(settings: PostgresSettings): CallConnection<Readers> {
  return new ReadConnection(new Session(settings, READING))
}
