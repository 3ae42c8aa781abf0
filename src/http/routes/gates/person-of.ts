import { NOBODY } from '../../../gates/instances/transition.js'
import type { Exchange } from '../../exchange/exchange.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'

/** Who decides. */
export interface Person {
  readonly name: string
  readonly groups: readonly string[]
}

/**
 * The person behind a request: the bearer of the token. Only where no tokens are configured, so that everyone may do
 * everything, is the name taken that the caller claims.
 */
export function personOf(
  exchange: Exchange,
  { groupsOf }: GateRoutesDeps,
  claimed = exchange.claimedUser,
): Person {
  const { tokenName } = exchange.caller
  if (tokenName !== undefined) return { name: tokenName, groups: groupsOf(tokenName) }
  return { name: claimed ?? NOBODY, groups: [] }
}
