import type { ConnectionSettings, Deadline, SignRequest } from '../answers/source-connection.js'

/**
 * Credentials that expire within this time, in milliseconds, are not used: a request may outlast
 * them.
 */
const MARGIN_MS = 60_000

/** Temporary credentials of requests. */
export interface Granted {
  readonly sign: SignRequest
  readonly untilMs: number
}

/**
 * Shares credentials between requests. Renews them before they expire, once for all waiting
 * requests. `request` returns an error message if none are granted.
 */
export function makeSharedAuthorization(
  request: (deadline: Deadline) => Promise<Granted | string>,
  now: () => number,
): NonNullable<ConnectionSettings['authorize']> {
  let granted: Granted | undefined
  let pending: Promise<Granted | string> | undefined
  return async (deadline) => {
    if (granted !== undefined && granted.untilMs - MARGIN_MS > now()) return granted.sign
    pending ??= request(deadline).finally(() => (pending = undefined))
    const answer = await pending
    if (typeof answer === 'string') return answer
    granted = answer
    return answer.sign
  }
}
