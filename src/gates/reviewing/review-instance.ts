import type { WriteOperation } from '../../store/ports/transaction.js'
import { instanceEntry } from '../instances/audit-entries.js'
import { closeInstance, evidenceDigest } from '../instances/close-instance.js'
import { expireIfDue } from '../instances/expire-instances.js'
import { delegatorsOf } from '../instances/delegations.js'
import { requireGate, requireInstance } from '../instances/find-or-raise.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import { excludedCommitters } from '../instances/committers.js'
import { applyReview, approvalsNeeded, countedApprovals } from '../instances/transition.js'
import type { RefusalReason, ReviewAttempt } from '../instances/transition.js'

export interface ReviewRequest {
  readonly instanceId: number
  readonly attempt: Omit<ReviewAttempt, 'delegators' | 'committers'>
  /** Committers that the events of the execution name. */
  readonly committersInEvents?: readonly string[] | undefined
  /** The user as claimed by the caller, without proof. */
  readonly claimedUser?: string | undefined
  readonly origin: string | undefined
}

/** Result of a review. A refused one changes nothing, except that a due instance expires. */
export interface Reviewed {
  readonly instance: GateInstance
  /** Number of approvals so far; `approvalsNeeded` is the required number. */
  readonly approvals: number
  readonly approvalsNeeded: number
  readonly refusal: RefusalReason | undefined
}

/** Applies a review, and closes the instance once it is decided. Raises `not_found`. */
export const reviewInstance: WriteOperation<ReviewRequest, Reviewed> = {
  name: 'gates.review',
  apply: async (transaction, { instanceId, attempt: sent, committersInEvents, claimedUser, origin }) => {
    const { gates } = transaction
    const instance = await expireIfDue(transaction, await requireInstance(gates, instanceId), sent.timeMs)
    const gate = await requireGate(gates, instance.gateId)
    const earlier = await gates.reviewsOf(instanceId)
    const excludes = gate.committersMayApprove === false
    const { evidence = '[]' } = excludes ? await gates.findDocuments(instanceId) : {}
    const attempt: ReviewAttempt = {
      ...sent,
      delegators: await delegatorsOf(gates, sent.person, sent.approvers, sent.timeMs),
      committers: excludedCommitters(gate, instance, JSON.parse(evidence), committersInEvents),
    }
    const effect = applyReview(instance, gate, earlier, attempt)
    const approved = countedApprovals(instance, gate, earlier, attempt).length
    const counted = { approvals: approved, approvalsNeeded: approvalsNeeded(gate) }
    if (effect.kind === 'refused') return { instance, ...counted, refusal: effect.reason }
    const { person, action, comment, timeMs } = attempt
    const { name, groups } = effect.authority
    const onBehalfOf = name === person ? undefined : name
    await gates.addReview(instanceId, { person, action, comment, timeMs, groups, onBehalfOf })
    const approvals = counted.approvals + (action === 'approve' ? 1 : 0)
    const actor = { user: person, claimedUser, origin, nowMs: timeMs }
    if (effect.kind === 'closed') {
      const closed = await closeInstance(transaction, instance, { ...effect, onBehalfOf }, actor)
      return { ...counted, approvals, instance: closed, refusal: undefined }
    }
    const evidenceSha256 = await evidenceDigest(gates, instanceId)
    const facts = {
      ...{ action, reviewComment: comment, approvals, approvalsNeeded: approvalsNeeded(gate), onBehalfOf },
      evidenceSha256,
    }
    await transaction.audit.append(instanceEntry('gate.reviewed', instance, actor, facts))
    return { ...counted, approvals, instance, refusal: undefined }
  },
}
