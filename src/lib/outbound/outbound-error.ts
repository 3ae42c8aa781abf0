import { AppError } from '../../errors/app-error.js'

/** `aborted`: the caller gave up, or the client is closed. */
type OutboundFailure = 'target_refused' | 'timed_out' | 'not_connected' | 'too_large' | 'aborted'

/**
 * A request that brought no response: `invalid` where it may never be sent (`target_refused`), else `unavailable`. The
 * message names the target by scheme and host only, since paths and queries may hold secrets.
 */
export class OutboundError extends AppError {
  readonly reason: OutboundFailure

  constructor(reason: OutboundFailure, message: string, cause?: unknown) {
    super(reason === 'target_refused' ? 'invalid' : 'unavailable', message, { code: reason, cause })
    this.name = 'OutboundError'
    this.reason = reason
  }
}
