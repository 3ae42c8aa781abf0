import type { ErrorKind } from '../errors/app-error.js'
import type { DecisionBatch } from './decision-batch.js'
import type { KeepOptions, WriteReceipt } from './keep-decisions.js'
import type { RetentionPolicy } from './retention.js'

/** Start data of the writing thread. */
export interface WriterThreadOptions extends KeepOptions {
  /** Path of the database. */
  readonly path: string
  readonly retention: RetentionPolicy
  readonly retentionIntervalMs: number
  /**
   * Names of log receivers. Decisions that they have not got lose details first, and are deleted
   * only later.
   */
  readonly receivers?: readonly string[]
}

/** To the writing thread; `write` is answered in order by `written` or `lost`. */
export type WriterRequest =
  { readonly type: 'write'; readonly batch: DecisionBatch } | { readonly type: 'close' }

/**
 * From the writing thread. `refused` means that it could not start, `lost` that a batch was not
 * written. The thread ends after `refused` and after a `close`.
 */
export type WriterAnswer =
  | { readonly type: 'ready' }
  | { readonly type: 'written'; readonly receipt: WriteReceipt }
  | {
      readonly type: 'refused' | 'lost'
      readonly kind: ErrorKind
      readonly code: string
      readonly message: string
    }
