import type { ConnectionSettings, Deadline, SignRequest } from '../answers/source-connection.js'

/** What ends sooner is not used any more: requests take their time. */
const MARGIN_MS = 60_000

/** By what requests show who sent them, for a while. */
export interface Granted {
  readonly sign: SignRequest
  readonly untilMs: number
}

/**
 * What was granted last, for each request, pending again when it is about to end, and once for all that wait for it. `request` gives a sentence where
 * nothing is granted.
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
