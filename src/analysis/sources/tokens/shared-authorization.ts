import type { ConnectionSettings, Deadline, SignRequest } from '../answers/source-connection.js'

/** What ends sooner is not used any more: requests take their time. */
const MARGIN_MS = 60_000

/** By what requests show who sent them, for a while. */
export interface Granted {
  readonly sign: SignRequest
  readonly untilMs: number
}

/**
 * What was granted last, for each request, asking again when it is about to end, and once for all that wait for it. `ask` gives a sentence where
 * nothing is granted.
 */
export function makeSharedAuthorization(
  ask: (deadline: Deadline) => Promise<Granted | string>,
  now: () => number,
): NonNullable<ConnectionSettings['authorize']> {
  let granted: Granted | undefined
  let asking: Promise<Granted | string> | undefined
  return async (deadline) => {
    if (granted !== undefined && granted.untilMs - MARGIN_MS > now()) return granted.sign
    asking ??= ask(deadline).finally(() => (asking = undefined))
    const asked = await asking
    if (typeof asked === 'string') return asked
    granted = asked
    return asked.sign
  }
}
