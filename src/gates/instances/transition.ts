import type { Gate } from '../../store/ports/gate.js'
import { isSamePerson } from '../../lib/text/same-person.js'
import { isOpen } from '../../store/ports/gate-instance.js'
import type { GateInstance, InstanceState, Review } from '../../store/ports/gate-instance.js'

/** A person with the role `approver`. */
export interface Approver {
  readonly name: string
  readonly groups: readonly string[]
}

/** A review with the groups of the person. */
export interface ReviewAttempt extends Review {
  readonly groups: readonly string[]
  /** All current approvers; absent without authentication. */
  readonly approvers?: readonly Approver[] | undefined
}

/** End of an instance. */
export interface Closing {
  readonly kind: 'closed'
  readonly state: Exclude<InstanceState, 'not_activated' | 'activated'>
  readonly comment: string
  readonly decidedBy: string | undefined
}

/** Why a review is refused. */
export type RefusalReason =
  | 'closed'
  | 'not_activated'
  | 'already_decided'
  | 'own_trigger'
  | 'not_an_approver'
  | 'nameless'
  | 'no_comment'

/** Reviewer name of a caller without one, as in the orchestrator. */
export const NOBODY = 'anonymous'

/** Effect of a review. */
export type ReviewEffect =
  | Closing
  | { readonly kind: 'counted'; readonly approvals: number }
  | { readonly kind: 'refused'; readonly reason: RefusalReason }

type GateRules = Pick<Gate, 'approvers' | 'approvals' | 'triggererMayApprove' | 'commentRequired'>

/** Verdict of a gate's policy. Without denials it approves. */
export interface PolicyVerdict extends PolicyReasons {
  readonly policy: string
}

/** Reasons of a gate's policy. */
export interface PolicyReasons {
  readonly denials: readonly string[]
  /** Reasons that do not deny. */
  readonly warnings: readonly string[]
}

/** Whether an open instance has passed its expiry. */
export function isDue({ state, expiresMs }: GateInstance, nowMs: number): boolean {
  return isOpen(state) && nowMs >= expiresMs
}

/** Returns the end of an instance that nobody decided in time. */
export function expire({ expiresMs }: GateInstance): Closing {
  const time = new Date(expiresMs).toISOString()
  return {
    kind: 'closed',
    state: 'expired',
    comment: `expired: no decision until ${time}`,
    decidedBy: undefined,
  }
}

/**
 * Returns the effect of a review after the earlier ones. A due instance must have been expired
 * before. Membership is checked before the state, so that others learn nothing about the decision.
 */
export function applyReview(
  instance: GateInstance,
  gate: GateRules,
  earlier: readonly Review[],
  attempt: ReviewAttempt,
): ReviewEffect {
  const { person, action, comment } = attempt
  const reason = refusal(instance, gate, earlier, attempt)
  if (reason !== undefined) return { kind: 'refused', reason }
  if (action === 'cancel') return { kind: 'closed', state: 'canceled', comment, decidedBy: person }
  if (action === 'reject') return { kind: 'closed', state: 'rejected', comment, decidedBy: person }
  const approvals = countedApprovals(instance, gate, earlier, attempt.approvers).length + 1
  if (approvals < gate.approvals) return { kind: 'counted', approvals }
  return { kind: 'closed', state: 'approved', comment, decidedBy: person }
}

/**
 * Returns the approvals that count. In an open instance, only those of people who may still
 * approve.
 */
export function countedApprovals(
  instance: GateInstance,
  gate: GateRules,
  reviews: readonly Review[],
  approvers?: readonly Approver[],
): readonly Review[] {
  const approvals = reviews.filter(({ action }) => action === 'approve')
  if (!isOpen(instance.state)) return approvals
  const mayApprove = (person: string): boolean => {
    const known = approvers?.find(({ name }) => isSamePerson(name, person))
    if (approvers !== undefined && known === undefined) return false
    if (needsName(gate, person)) return false
    return isApprover(gate, person, known?.groups ?? []) && !isOwnTrigger(instance, gate, person)
  }
  return approvals.filter(({ person }) => mayApprove(person))
}

function refusal(
  instance: GateInstance,
  gate: GateRules,
  earlier: readonly Review[],
  { person, groups, action, comment }: ReviewAttempt,
): RefusalReason | undefined {
  if (!isApprover(gate, person, groups)) return 'not_an_approver'
  if (!isOpen(instance.state)) return 'closed'
  if (action === 'cancel') return undefined
  if (instance.state === 'not_activated') return 'not_activated'
  if (action === 'approve' && needsName(gate, person)) return 'nameless'
  if (earlier.some((review) => isSamePerson(review.person, person))) return 'already_decided'
  if (action === 'approve' && isOwnTrigger(instance, gate, person)) return 'own_trigger'
  return gate.commentRequired === true && comment.trim() === '' ? 'no_comment' : undefined
}

/** Whether an approval lacks a name, which a gate with several approvals needs. */
function needsName({ approvals }: GateRules, person: string): boolean {
  return approvals > 1 && isSamePerson(person, NOBODY)
}

function isOwnTrigger(
  { triggeredBy, triggerToken }: GateInstance,
  { triggererMayApprove }: GateRules,
  person: string,
): boolean {
  const isTriggerer = [triggeredBy, triggerToken].some(
    (name) => name !== undefined && isSamePerson(name, person),
  )
  return isTriggerer && !triggererMayApprove
}

/** Whether the approvers of a gate include a person. */
export function isApprover(
  { approvers }: Pick<Gate, 'approvers'>,
  person: string,
  groups: readonly string[],
): boolean {
  const { users, groups: allowed } = approvers
  if (users.length === 0 && allowed.length === 0) return true
  return users.some((user) => isSamePerson(user, person)) || groups.some((group) => allowed.includes(group))
}

/** Returns the end by the orchestrator's own cancellation; undefined if the instance is closed. */
export function applyCancellation({ state }: GateInstance, comment: string): Closing | undefined {
  if (!isOpen(state)) return undefined
  return { kind: 'closed', state: 'canceled', comment, decidedBy: 'orchestrator' }
}

/** Returns the end by a policy's verdict; undefined if a person has decided. */
export function applyPolicy(
  { state }: GateInstance,
  { policy, denials, warnings }: PolicyVerdict,
): Closing | undefined {
  if (state !== 'activated') return undefined
  const decidedBy = `policy:${policy}`
  const warned = warnings.length === 0 ? '' : ` (warnings: ${warnings.join('; ')})`
  if (denials.length > 0)
    return { kind: 'closed', state: 'rejected', comment: `${denials.join('; ')}${warned}`, decidedBy }
  return {
    kind: 'closed',
    state: 'approved',
    comment: `approved by the policy ${policy}${warned}`,
    decidedBy,
  }
}
