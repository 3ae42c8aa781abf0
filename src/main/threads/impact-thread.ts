import type { Config } from '../../config/config.js'
import { AppError } from '../../errors/app-error.js'
import type { ImpactProgress } from '../../impact/impact-runs.js'
import type { ImpactRequest } from '../../impact/impact-request.js'
import type { ImpactResult } from '../../impact/impact-result.js'
import { BATCH_CASES } from '../../impact/run-impact.js'
import { threadScript } from '../../lib/package-root.js'
import { fromFailure } from '../../lib/threads/failure.js'
import type { Failure } from '../../lib/threads/failure.js'
import type { PackedSnapshot } from '../../rego/index.js'
import type { PolicyException } from '../../store/ports/exception-store.js'
import type { StoreLocation } from '../store/store-location.js'
import { workInOwnThread } from './own-thread.js'

/** Start options of the thread that compares revisions. */
export interface ImpactThreadOptions {
  readonly config: Pick<Config, 'dataDir' | 'policies' | 'decisions'>
  readonly request: ImpactRequest
  /** The policies that serve. */
  readonly serving: PackedSnapshot
  readonly store: StoreLocation
  /** An empty directory for sent policies. */
  readonly directory: string
  /** Whether decisions are logged. */
  readonly hasDecisions: boolean
  readonly nowMs: number
  /** The exceptions that apply. */
  readonly exceptions: readonly PolicyException[]
}

/** A message from the thread. The last one ends its work. */
export type ImpactMessage =
  | { readonly type: 'progress'; readonly progress: ImpactProgress }
  | { readonly type: 'done'; readonly result: ImpactResult }
  | { readonly type: 'failed'; readonly failure: Failure }

/** A compiler of low priority may take this many times longer on a busy machine. */
export const LOW_PRIORITY_FACTOR = 4

const SCRIPT = threadScript('impact')
/** Memory of each thread of a comparison, and the error of one that needs more. */
export const IMPACT_MEMORY = {
  limits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 1024 },
  outgrown: 'The comparison needs too much memory. Compare fewer inputs with limit or application.',
} as const
/** The thread itself stops earlier with a partial result. */
const LIMIT_MS = 20 * 60_000
/** Time without a message after which the thread is stopped, in addition to a batch of evaluations. */
const SILENCE_MS = 30_000

/**
 * Compares revisions in a separate thread, which compiles the policies and reads the inputs itself.
 * Throws the errors of the thread, and `unavailable` if an evaluation in it does not end.
 */
export async function compareInThread(
  options: ImpactThreadOptions,
  progress: (progress: ImpactProgress) => void,
  givenUp: AbortSignal,
): Promise<ImpactResult> {
  const { limits, compiler } = options.config.policies
  let watch: NodeJS.Timeout | undefined
  try {
    return await workInOwnThread<ImpactResult>(
      {
        script: SCRIPT,
        options: { workerData: options, resourceLimits: IMPACT_MEMORY.limits },
        outgrown: IMPACT_MEMORY.outgrown,
        abandoned: 'the comparison was stopped',
        givenUp,
        limitMs: LIMIT_MS,
      },
      (thread, { done, failed }) => {
        const stuck = (): void => failed(new AppError('unavailable', STUCK))
        const listen = (ms: number): void => {
          clearTimeout(watch)
          watch = setTimeout(stuck, ms + SILENCE_MS)
        }
        // Two revisions may be compiled by three runs each.
        listen(6 * LOW_PRIORITY_FACTOR * compiler.timeoutSeconds * 1000)
        thread.on('message', (message: ImpactMessage) => {
          if (message.type === 'done') done(message.result)
          else if (message.type === 'failed') failed(fromFailure(message.failure))
          else {
            if (message.progress.phase === 'evaluating') listen(2 * BATCH_CASES * limits.maxDurationMs)
            progress(message.progress)
          }
        })
      },
    )
  } finally {
    clearTimeout(watch)
  }
}

const STUCK =
  'An evaluation did not end within policies.limits.maxDurationMs and the comparison was stopped. A built-in function of the candidate or of the revision that it is compared with takes too long.'
