import type { CompareList, ListToCompare } from '../../events/registry/compare-list.js'
import { toError } from '../../errors/app-error.js'
import { threadScript } from '../../lib/package-root.js'
import { fromFailure } from '../../lib/threads/failure.js'
import type { Failure } from '../../lib/threads/failure.js'
import type { StoreLocation } from '../store/store-location.js'
import { workInOwnThread } from './own-thread.js'

/** Start options of the thread that compares a list with the registry. */
export interface ComparisonThreadOptions {
  readonly store: StoreLocation
  readonly list: ListToCompare
}

/**
 * A message from the thread. Each `changes` is acknowledged by an empty message once it is durable.
 * The other types end its work.
 */
export type ComparisonMessage =
  | { readonly type: 'changes'; readonly changes: string }
  | { readonly type: 'compared'; readonly listed: number }
  | { readonly type: 'failed'; readonly failure: Failure }

const SCRIPT = threadScript('comparison')
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 192 }

/**
 * Runs `CompareList` in a separate thread, which reads the registry itself. Only differences pass
 * through the calling thread.
 */
export function compareInThread(store: StoreLocation): CompareList {
  return (list, take, givenUp) => {
    const workerData: ComparisonThreadOptions = { store, list }
    return workInOwnThread<number>(
      {
        script: SCRIPT,
        options: { workerData, resourceLimits: THREAD_LIMITS },
        outgrown: `compare all ${list.kind}: there are too many, or they are too large`,
        abandoned: 'the reconciliation was given up',
        givenUp,
      },
      (thread, { done, failed }) => {
        thread.on('message', (message: ComparisonMessage) => {
          if (message.type === 'compared') done(message.listed)
          else if (message.type === 'failed') failed(fromFailure(message.failure))
          else {
            take(message.changes).then(
              () => thread.postMessage(undefined),
              (raw: unknown) => failed(toError(raw)),
            )
          }
        })
      },
    )
  }
}
