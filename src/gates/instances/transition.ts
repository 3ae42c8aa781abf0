import type { Gate } from '../../store/ports/gate.js'
import { isSamePerson } from '../../lib/text/same-person.js'
import { isCommitter } from './committers.js'
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
  /** Approvers who gave the person their rights. */
  readonly delegators?: readonly Approver[] | undefined
  /** Who committed to what is deployed; undefined if unknown. */
  readonly committers?: readonly string[] | undefined
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
  | 'committer'
  | 'unknown_committers'
  | 'not_an_approver'
  | 'nameless'
  | 'no_comment'

/** Reviewer name of a caller without one, as in the orchestrator. */
export const NOBODY = 'anonymous'
/** Names that the orchestrator's services and UI give to callers without one. */
const NAMELESS = [NOBODY, '[anonymous]', '[anonymous user]', 'anonymousUser', '__unrestricted_user__']

/** Effect of a review. `onBehalfOf` is the approver whose rights it uses, if not the person. */
export type ReviewEffect =
  | (Closing & { readonly authority: Approver })
  | { readonly kind: 'counted'; readonly approvals: number; readonly authority: Approver }
  | { readonly kind: 'refused'; readonly reason: RefusalReason }

type GateRules = Pick<
  Gate,
  'approvers' | 'approvals' | 'triggererMayApprove' | 'commentRequired' | 'eachGroup' | 'committersMayApprove'
>

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
  const { person, action, comment, approvers } = attempt
  const judged = judge(instance, gate, earlier, attempt)
  if (typeof judged === 'string') return { kind: 'refused', reason: judged }
  const closing = { kind: 'closed', comment, decidedBy: person, authority: judged } as const
  if (action === 'cancel') return { ...closing, state: 'canceled' }
  if (action === 'reject') return { ...closing, state: 'rejected' }
  const counted = countedApprovals(instance, gate, earlier, attempt)
  const groups = [...counted.map((review) => groupsOf(review, approvers)), judged.groups]
  if (!isComplete(gate, groups)) return { kind: 'counted', approvals: groups.length, authority: judged }
  return { ...closing, state: 'approved' }
}

/** Number of different people who must approve. */
export function approvalsNeeded({ approvals, eachGroup, approvers }: GateRules): number {
  return eachGroup === true ? Math.max(approvals, approvers.groups.length) : approvals
}

/** Whether approvals suffice. `groups` are those of each approver. */
function isComplete(gate: GateRules, groups: readonly (readonly string[])[]): boolean {
  return groups.length >= approvalsNeeded(gate) && groupsWithoutApproval(gate, groups).length === 0
}

/**
 * Groups that still need an approval. Each person counts for one group, chosen so that as many
 * groups as possible have one (augmenting paths of a bipartite matching).
 */
export function groupsWithoutApproval(
  { eachGroup, approvers }: GateRules,
  groups: readonly (readonly string[])[],
): readonly string[] {
  if (eachGroup !== true) return []
  const groupOf = new Map<number, string>()
  const assign = (group: string, tried: Set<number>): boolean => {
    for (const [person, memberships] of groups.entries()) {
      if (tried.has(person) || !memberships.includes(group)) continue
      tried.add(person)
      const taken = groupOf.get(person)
      if (taken !== undefined && !assign(taken, tried)) continue
      groupOf.set(person, group)
      return true
    }
    return false
  }
  return approvers.groups.filter((group) => !assign(group, new Set()))
}

/** Groups whose rights a review uses: the current ones where all approvers are known. */
export function groupsOf(
  { person, onBehalfOf = person, groups = [] }: Review,
  approvers: readonly Approver[] | undefined,
): readonly string[] {
  return approvers?.find(({ name }) => isSamePerson(name, onBehalfOf))?.groups ?? groups
}

/**
 * Returns the approvals that count. In an open instance, only those of people who may still
 * approve.
 */
export function countedApprovals(
  instance: GateInstance,
  gate: GateRules,
  reviews: readonly Review[],
  { approvers, committers }: Pick<ReviewAttempt, 'approvers' | 'committers'>,
): readonly Review[] {
  const approvals = reviews.filter(({ action }) => action === 'approve')
  if (!isOpen(instance.state)) return approvals
  const isKnown = (name: string): boolean =>
    approvers === undefined || approvers.some((approver) => isSamePerson(approver.name, name))
  return approvals.filter((review) => {
    const { person, onBehalfOf = person } = review
    if (!isKnown(person) || !isKnown(onBehalfOf) || needsName(gate, person)) return false
    if (objectionTo([person, onBehalfOf], instance, gate, committers) !== undefined) return false
    return isApprover(gate, onBehalfOf, groupsOf(review, approvers))
  })
}

/** Returns whose rights a review uses, or why it is refused. Own rights take precedence. */
function judge(
  instance: GateInstance,
  gate: GateRules,
  earlier: readonly Review[],
  attempt: ReviewAttempt,
): Approver | RefusalReason {
  const { person, groups, action, comment, delegators = [] } = attempt
  const rights = [{ name: person, groups }, ...delegators]
  const [first, ...others] = rights.filter(({ name, groups: held }) => isApprover(gate, name, held))
  if (first === undefined) return 'not_an_approver'
  if (!isOpen(instance.state)) return 'closed'
  if (action === 'cancel') return first
  if (instance.state === 'not_activated') return 'not_activated'
  if (action === 'approve' && needsName(gate, person)) return 'nameless'
  if (earlier.some((review) => isSamePerson(review.person, person))) return 'already_decided'
  const objection = refusalOf(first.name, instance, gate, earlier, attempt)
  const usable =
    objection === undefined
      ? first
      : others.find(({ name }) => refusalOf(name, instance, gate, earlier, attempt) === undefined)
  if (usable === undefined) return objection ?? 'not_an_approver'
  return gate.commentRequired === true && comment.trim() === '' ? 'no_comment' : usable
}

/** Why a person may not use the rights of an approver for this review; undefined if they may. */
function refusalOf(
  approver: string,
  instance: GateInstance,
  gate: GateRules,
  earlier: readonly Review[],
  { person, action, committers }: ReviewAttempt,
): RefusalReason | undefined {
  if (earlier.some((review) => isSamePerson(review.onBehalfOf ?? review.person, approver)))
    return 'already_decided'
  return action === 'approve' ? objectionTo([person, approver], instance, gate, committers) : undefined
}

/** Why an approval by these people does not count, whatever the approvers are. */
function objectionTo(
  people: readonly string[],
  instance: GateInstance,
  gate: GateRules,
  committers: readonly string[] | undefined,
): 'own_trigger' | 'unknown_committers' | 'committer' | undefined {
  if (people.some((name) => isOwnTrigger(instance, gate, name))) return 'own_trigger'
  if (gate.committersMayApprove !== false) return undefined
  if (committers === undefined) return 'unknown_committers'
  return people.some((name) => isCommitter(name, committers)) ? 'committer' : undefined
}

/** Whether an approval lacks a name, which a gate needs to distinguish people. */
function needsName(gate: GateRules, person: string): boolean {
  const tellsApart = approvalsNeeded(gate) > 1 || gate.committersMayApprove === false
  return tellsApart && NAMELESS.some((name) => isSamePerson(person, name))
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
