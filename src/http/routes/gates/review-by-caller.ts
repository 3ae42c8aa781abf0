import { refusedReview } from '../../../gates/reviewing/refused-review.js'
import { reviewInstance } from '../../../gates/reviewing/review-instance.js'
import type { Reviewed } from '../../../gates/reviewing/review-instance.js'
import { isOpen } from '../../../store/ports/gate-instance.js'
import type { Review } from '../../../store/ports/gate-instance.js'
import { callerOf } from '../../exchange/caller-of.js'
import type { Exchange } from '../../exchange/exchange.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'
import { NOBODY } from '../../../gates/instances/transition.js'

/** Of a review. */
export const MAX_COMMENT = 4000

/** What a person says, and who they say to be where nobody is asked to prove it. */
export type CallerReview = Pick<Review, 'action' | 'comment'> & { readonly claimedName?: string | undefined }

/** Counts what whoever calls decides on an instance. Raises `not_found`, `forbidden` or `conflict` for a review that changes nothing. */
export async function reviewByCaller(
  exchange: Exchange,
  instanceId: number,
  { action, comment, claimedName }: CallerReview,
  deps: GateRoutesDeps,
): Promise<Reviewed> {
  const claimed = claimedName ?? exchange.claimedUser
  const { name: person, groups } = personOf(exchange, deps, claimed)
  const attempt = { action, comment, person, groups, timeMs: deps.now(), approvers: deps.approvers }
  const { origin } = callerOf(exchange)
  const reviewed = await deps.writer.run(reviewInstance, {
    instanceId,
    attempt,
    claimedUser: claimed,
    origin,
  })
  const { instance, refusal } = reviewed
  if (!isOpen(instance.state)) deps.closed()
  if (refusal !== undefined) throw refusedReview(instance, refusal, person)
  return reviewed
}

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
