import type { MessagePort } from 'node:worker_threads'
import type { FindOperation } from '../../ports/operation.js'
import type { Readers } from '../../ports/readers.js'
import { toStoreError } from '../engine/sqlite-error.js'
import { toFailure } from '../../../lib/threads/failure.js'
import { connectReading, connectWriting } from './connect.js'
import type { ServiceConnection } from './connect.js'
import { bindCall } from '../calls/execute-batch.js'
import { withMaintenance } from '../maintenance/maintenance-operations.js'
import type { SqliteTransaction } from '../maintenance/sqlite-context.js'
import type { StoreAnswer, StoreRequest, StoreThreadOptions } from './messages.js'

/** What the thread that writes does all its life: opens the database and runs the calls that it is sent. */
export function serveWrites(
  port: MessagePort,
  { path, files }: StoreThreadOptions,
  operations: FindOperation<SqliteTransaction>,
): void {
  serve(port, () => connectWriting(path, {}, files), withMaintenance(operations))
}

/** The same for the thread that reads. */
export function serveReads(
  port: MessagePort,
  { path, files }: StoreThreadOptions,
  operations: FindOperation<Readers>,
): void {
  serve(port, () => connectReading(path, files), operations)
}

function serve<Context>(
  port: MessagePort,
  connect: () => ServiceConnection<Context>,
  operations: FindOperation<Context>,
): void {
  const answer = (message: StoreAnswer): void => port.postMessage(message)
  let connection: ServiceConnection<Context>
  try {
    connection = connect()
  } catch (raw) {
    answer({ type: 'refused', failure: toFailure(toStoreError('open tidegate.db', raw)) })
    return
  }
  const bind = bindCall(operations)
  port.on('message', (request: StoreRequest) => {
    if (request.type === 'close') {
      connection.close()
      port.close()
      return
    }
    const giveUp = (raw: unknown): void => {
      answer({ type: 'refused', failure: toFailure(toStoreError('use tidegate.db', raw)) })
      connection.close()
      port.close()
    }
    // What raises beside the calls leaves the connection in a state that nobody knows: the next thread starts with a new one.
    connection
      .execute(request.calls.map(bind))
      .then((outcomes) => answer({ type: 'outcomes', outcomes }), giveUp)
  })
}
