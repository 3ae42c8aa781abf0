import { readExecutionFacts } from '../../../events/execution-facts.js'
import { refusedReview } from '../../../gates/reviewing/refused-review.js'
import { reviewInstance } from '../../../gates/reviewing/review-instance.js'
import type { Reviewed } from '../../../gates/reviewing/review-instance.js'
import { isOpen } from '../../../store/ports/gate-instance.js'
import type { Review } from '../../../store/ports/gate-instance.js'
import { AppError } from '../../../errors/app-error.js'
import { callerOf } from '../../exchange/caller-of.js'
import type { Exchange } from '../../exchange/exchange.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'
import { NOBODY } from '../../../gates/instances/transition.js'

/** Maximum length of a review comment. */
export const MAX_COMMENT = 4000

/** A review, with the claimed name if no credentials are required. */
export type CallerReview = Pick<Review, 'action' | 'comment'> & { readonly claimedName?: string | undefined }

/**
 * Records the caller's review. Raises `not_found`, `forbidden` or `conflict` for a review without
 * effect.
 */
export async function reviewByCaller(
  exchange: Exchange,
  instanceId: number,
  { action, comment, claimedName }: CallerReview,
  deps: GateRoutesDeps,
): Promise<Reviewed> {
  requireApprovalSignIn(exchange, instanceId, deps)
  const claimed = claimedName ?? exchange.claimedUser
  const { name: person, groups } = personOf(exchange, claimed)
  const attempt = { action, comment, person, groups, timeMs: deps.now(), approvers: deps.approvers }
  const committersInEvents = await committersFor(instanceId, deps)
  const { origin } = callerOf(exchange)
  const reviewed = await deps.writer.run(reviewInstance, {
    instanceId,
    attempt,
    committersInEvents,
    claimedUser: claimed,
    origin,
  })
  const { instance, refusal } = reviewed
  if (!isOpen(instance.state)) deps.closed()
  if (refusal !== undefined) throw refusedReview(instance, refusal, person)
  return reviewed
}

/** Committers in the events of an instance's execution, for a gate that refuses their approvals. */
export async function committersFor(
  instanceId: number,
  { lookups: { gates }, reader }: Pick<GateRoutesDeps, 'lookups' | 'reader'>,
): Promise<readonly string[] | undefined> {
  const instance = await gates.findInstance(instanceId)
  const gate = instance && (await gates.findGate(instance.gateId))
  if (instance === undefined || gate?.committersMayApprove !== false) return undefined
  return (await reader.run(readExecutionFacts, instance.executionId))?.committers
}

/** Raises `forbidden` for an account that has not signed in as approvals require it. */
function requireApprovalSignIn(
  { caller: { account } }: Exchange,
  instanceId: number,
  { approvalAcr, publicUrl = '' }: GateRoutesDeps,
): void {
  if (account === undefined || approvalAcr === undefined || account.acr === approvalAcr) return
  const next = encodeURIComponent(`/ui/approvals/${instanceId}`)
  throw new AppError(
    'forbidden',
    `Reviews need a stronger sign-in (${approvalAcr}). Open ${publicUrl}/ui/sign-in/start?approval=yes&next=${next} and review again.`,
    { code: 'stronger_sign_in_required' },
  )
}

/** A reviewer. */
export interface Person {
  readonly name: string
  readonly groups: readonly string[]
}

/**
 * Returns the bearer of the token. The claimed name counts only if no credentials are configured.
 */
export function personOf(exchange: Exchange, claimed = exchange.claimedUser): Person {
  const { tokenName, groups = [] } = exchange.caller
  if (tokenName !== undefined) return { name: tokenName, groups }
  return { name: claimed ?? NOBODY, groups: [] }
}
