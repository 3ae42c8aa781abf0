import type { KeptFile } from '../engine/kept-files.js'
import type { Failure } from '../../../lib/threads/failure.js'
import type { Call, Outcome } from '../calls/call.js'

/** What a thread of the store is for. */
export type ThreadRole = 'write' | 'read'

/** What a thread of the store is started with. */
export interface StoreThreadOptions {
  readonly path: string
  readonly role: ThreadRole
  /** What must be at its path for anything to be written. */
  readonly files: readonly KeptFile[]
}

/** To a thread of the store; `calls` is answered by `outcomes`, in order. */
export type StoreRequest =
  { readonly type: 'calls'; readonly calls: readonly Call[] } | { readonly type: 'close' }

/** From a thread of the store; it ends after `refused` and after a `close`. */
export type StoreAnswer =
  | { readonly type: 'outcomes'; readonly outcomes: readonly Outcome[] }
  | { readonly type: 'refused'; readonly failure: Failure }
