import type { Config } from '../../config/config.js'
import type { ImpactResult } from '../../impact/impact-result.js'
import type { Failure } from '../../lib/threads/failure.js'
import type { PackedSnapshot } from '../../rego/index.js'
import type { PolicyException } from '../../store/ports/exception-store.js'

/** Start options of the thread that evaluates the shadow. */
export interface ShadowThreadOptions {
  readonly config: Pick<Config, 'dataDir' | 'policies'>
  /** The policies that serve. */
  readonly serving: PackedSnapshot
  readonly exceptions: readonly PolicyException[]
  /** The policies to compare in place of `policies.shadow`, since their stage began. */
  readonly staged?: { readonly policies: PackedSnapshot; readonly sinceMs: number } | undefined
}

/** Counts and result of the shadow so far. */
export interface ShadowProgress {
  /** Decisions that were not evaluated because the shadow was busy. */
  readonly dropped: number
  /** Decisions outside the share. */
  readonly leftOut: number
  /** Decisions that only the policies that serve can make, although a comparison did not show it. */
  readonly failed: number
  readonly result: ImpactResult
}

/** A message from the thread. It ends after a failure. */
export type ShadowMessage =
  | { readonly type: 'progress'; readonly progress: ShadowProgress }
  | { readonly type: 'failed'; readonly failure: Failure }
