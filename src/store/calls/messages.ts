import type { Failure } from '../../lib/threads/failure.js'
import type { Call, Outcome } from './call.js'

/** What a thread of the store is for. */
export type ThreadRole = 'write' | 'read'

/** To a thread of the store; `calls` is answered by `outcomes`, in order. */
export type StoreRequest =
  { readonly type: 'calls'; readonly calls: readonly Call[] } | { readonly type: 'close' }

/** From a thread of the store; it ends after `refused` and after a `close`. */
export type StoreAnswer =
  | { readonly type: 'outcomes'; readonly outcomes: readonly Outcome[] }
  | { readonly type: 'refused'; readonly failure: Failure }
