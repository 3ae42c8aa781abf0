import type { MessagePort } from 'node:worker_threads'
import { toFailure } from '../../lib/threads/failure.js'
import type { FindOperation } from '../ports/operation.js'
import { bindCall } from './call.js'
import type { CallConnection, StoreAnswer, StoreRequest } from './call.js'

/** How a thread of the store gets its connection. */
export interface ServeOptions<Context> {
  readonly connect: () => CallConnection<Context>
  readonly operations: FindOperation<Context>
  /** The error for what raised beside the calls, named by what was being done: `open`, `use`. */
  readonly toError: (action: string, raw: unknown) => Error
}

/** What a thread of the store does all its life: connects and runs the calls that it is sent. */
export function serveCalls<Context>(
  port: MessagePort,
  { connect, operations, toError }: ServeOptions<Context>,
): void {
  const answer = (message: StoreAnswer): void => port.postMessage(message)
  let connection: CallConnection<Context>
  try {
    connection = connect()
  } catch (raw) {
    answer({ type: 'refused', failure: toFailure(toError('open', raw)) })
    return
  }
  const bind = bindCall(operations)
  const close = async (): Promise<void> => {
    try {
      await connection.close()
    } finally {
      port.close()
    }
  }
  port.on('message', (request: StoreRequest) => {
    if (request.type === 'close') {
      void close()
      return
    }
    const giveUp = (raw: unknown): void => {
      answer({ type: 'refused', failure: toFailure(toError('use', raw)) })
      void close()
    }
    // What raises beside the calls leaves the connection in a state that nobody knows: the next thread starts with a new one.
    connection
      .execute(request.calls.map(bind))
      .then((outcomes) => answer({ type: 'outcomes', outcomes }), giveUp)
  })
}
