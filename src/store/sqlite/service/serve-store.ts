import type { MessagePort } from 'node:worker_threads'
import { AppError } from '../../../errors.js'
import type { AnyOperation } from '../../operation.js'
import type { Readers } from '../../readers.js'
import type { Transaction } from '../../transaction.js'
import { toStoreError } from '../sqlite-error.js'
import { toFailure } from './call.js'
import type { Call, Outcome } from './call.js'
import { connectReading, connectWriting } from './connect.js'
import type { BoundCall } from './execute-batch.js'
import type { StoreAnswer, StoreRequest, StoreThreadOptions } from './messages.js'

/** All operations that the threads of the store find by their names. */
export interface KnownOperations {
  readonly write: readonly AnyOperation<Transaction>[]
  readonly read: readonly AnyOperation<Readers>[]
}

interface Connection {
  readonly execute: (calls: readonly Call[]) => Promise<readonly Outcome[]>
  readonly close: () => void
}

/** What a thread of the store does all its life: opens the database and runs the calls that it is sent. */
export function serveStore(
  port: MessagePort,
  options: StoreThreadOptions,
  operations: KnownOperations,
): void {
  const answer = (message: StoreAnswer): void => port.postMessage(message)
  let connection: Connection
  try {
    connection = connect(options, operations)
  } catch (raw) {
    answer({ type: 'refused', failure: toFailure(toStoreError('open the store', raw)) })
    return
  }
  port.on('message', (request: StoreRequest) => {
    if (request.type === 'close') {
      connection.close()
      port.close()
      return
    }
    void connection.execute(request.calls).then((outcomes) => answer({ type: 'outcomes', outcomes }))
  })
}

function connect({ path, role }: StoreThreadOptions, operations: KnownOperations): Connection {
  if (role === 'write') {
    const { execute, close } = connectWriting(path)
    const find = finder(operations.write)
    return { execute: (calls) => execute(calls.map(find)), close }
  }
  const { execute, close } = connectReading(path)
  const find = finder(operations.read)
  return { execute: (calls) => execute(calls.map(find)), close }
}

function finder<Context>(operations: readonly AnyOperation<Context>[]): (call: Call) => BoundCall<Context> {
  const byName = new Map(operations.map((operation) => [operation.name, operation]))
  return ({ operation, args }) =>
    async (context) => {
      const found = byName.get(operation)
      if (found === undefined) throw new AppError('internal', `the store knows no operation ${operation}`)
      return await found.apply(context, args as never)
    }
}
