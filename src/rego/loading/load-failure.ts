import { hasErrorCode } from '../../errors/app-error.js'
import type { AppError } from '../../errors/app-error.js'
import { exceededLimit } from '../opa/run-opa.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { Stage, StageEnd } from './replacement.js'

/**
 * Delay of the first retry, in milliseconds, after a failure that the policies did not cause.
 * Doubles each time.
 */
const FIRST_RETRY_MS = 2000
const LAST_RETRY_MS = 60_000

/** A failed reload. The previous snapshot keeps serving. */
export interface LoadFailure {
  readonly at: Date
  readonly error: AppError
}

/** Called after every load except the first, for the log and the metrics. */
export interface LoadObserver {
  readonly loaded: (snapshot: Snapshot, durationMs: number) => void
  readonly failed: (failure: LoadFailure) => void
  /** Called when loaded policies begin to answer a share of requests, and when that ends. */
  readonly staged?: (stage: Stage) => void
  readonly stageEnded?: (stage: Stage, end: StageEnd) => void
}

/** Loads again after failures that the policies did not cause. */
export class LoadRetries {
  readonly #reload: () => Promise<void>
  #retry: NodeJS.Timeout | undefined
  #retries = 0

  /** `reload` never rejects. */
  constructor(reload: () => Promise<void>) {
    this.#reload = reload
  }

  /** Loads again later, unless only a change of the policies can help. */
  after(error: AppError): void {
    if (isOfPolicies(error)) return
    // A compilation that takes too long fails again, unless the machine was busy.
    const pauseMs =
      exceededLimit(error) !== undefined
        ? LAST_RETRY_MS
        : Math.min(FIRST_RETRY_MS * 2 ** this.#retries, LAST_RETRY_MS)
    this.#retries += 1
    this.#retry = setTimeout(() => void this.#reload(), pauseMs).unref()
  }

  /** Cancels the waiting retry. */
  cancel(): void {
    clearTimeout(this.#retry)
  }

  /** Notes that a load succeeded. */
  reset(): void {
    this.cancel()
    this.#retries = 0
  }
}

/** System errors that may be temporary. */
const PASSING: readonly string[] = [
  'EAGAIN',
  'EBUSY',
  'EDQUOT',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ENOSPC',
  'ESTALE',
]

/** True if only a change of the policies can help. */
function isOfPolicies({ kind, cause }: AppError): boolean {
  return kind === 'invalid' && !PASSING.some((code) => hasErrorCode(cause, code))
}
