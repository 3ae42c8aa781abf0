import type { MessagePort } from 'node:worker_threads'
import { toFailure } from '../../lib/threads/failure.js'
import type { CallConnection, StoreAnswer, StoreRequest } from './call.js'

/** How a thread of the store gets its connection. */
export interface ServeOptions {
  readonly connect: () => CallConnection
  /** Maps an error outside of a call. The action is `open` or `use`. */
  readonly toError: (action: string, raw: unknown) => Error
}

/**
 * Serves a thread of the store: connects, and runs the calls that arrive until the message to
 * close.
 */
export function serveCalls(port: MessagePort, { connect, toError }: ServeOptions): void {
  const answer = (message: StoreAnswer): void => port.postMessage(message)
  let connection: CallConnection
  try {
    connection = connect()
  } catch (raw) {
    answer({ type: 'refused', failure: toFailure(toError('open', raw)) })
    return
  }
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
    // After an error outside of a call the state of the connection is unknown: the next thread
    // opens another one.
    connection.execute(request.calls).then((outcomes) => answer({ type: 'outcomes', outcomes }), giveUp)
  })
}
