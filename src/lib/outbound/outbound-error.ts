import { AppError } from '../../errors/app-error.js'

/** `aborted`: the caller gave up, or the client is closed. */
type OutboundFailure = 'target_refused' | 'timed_out' | 'not_connected' | 'too_large' | 'aborted'

/**
 * A request without a response: `invalid` if it may never be sent (`target_refused`), otherwise
 * `unavailable`. The message contains only the scheme and host of the target, because paths and
 * queries may contain secrets.
 */
export class OutboundError extends AppError {
  readonly reason: OutboundFailure

  constructor(reason: OutboundFailure, message: string, cause?: unknown) {
    super(reason === 'target_refused' ? 'invalid' : 'unavailable', message, { code: reason, cause })
    this.name = 'OutboundError'
    this.reason = reason
  }
}
