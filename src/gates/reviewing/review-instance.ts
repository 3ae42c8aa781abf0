import type { WriteOperation } from '../../store/ports/transaction.js'
import { instanceEntry } from '../instances/audit-entries.js'
import { closeInstance, evidenceDigest } from '../instances/close-instance.js'
import { expireIfDue } from '../instances/expire-instances.js'
import { requireGate, requireInstance } from '../instances/find-or-raise.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import { applyReview, countedApprovals } from '../instances/transition.js'
import type { RefusalReason, ReviewAttempt } from '../instances/transition.js'

export interface ReviewRequest {
  readonly instanceId: number
  readonly attempt: ReviewAttempt
  /** Whom the caller says to be, which is no proof. */
  readonly claimedUser?: string | undefined
  readonly origin: string | undefined
}

/** What became of a review; a refused one has changed nothing but what the clock would have. */
export interface Reviewed {
  readonly instance: GateInstance
  /** How many have approved, and how many must. */
  readonly approvals: number
  readonly approvalsNeeded: number
  readonly refusal: RefusalReason | undefined
}

/** Counts what one person decides and closes the instance once that is enough. Raises `not_found`. */
export const reviewInstance: WriteOperation<ReviewRequest, Reviewed> = {
  name: 'gates.review',
  apply: async (transaction, { instanceId, attempt, claimedUser, origin }) => {
    const { gates } = transaction
    const instance = await expireIfDue(transaction, await requireInstance(gates, instanceId), attempt.timeMs)
    const gate = await requireGate(gates, instance.gateId)
    const earlier = await gates.reviewsOf(instanceId)
    const effect = applyReview(instance, gate, earlier, attempt)
    const approved = countedApprovals(instance, gate, earlier, attempt.approvers).length
    const counted = { approvals: approved, approvalsNeeded: gate.approvals }
    if (effect.kind === 'refused') return { instance, ...counted, refusal: effect.reason }
    const { person, action, comment, timeMs } = attempt
    await gates.addReview(instanceId, { person, action, comment, timeMs })
    const approvals = counted.approvals + (action === 'approve' ? 1 : 0)
    const actor = { user: person, claimedUser, origin, nowMs: timeMs }
    if (effect.kind === 'closed') {
      const closed = await closeInstance(transaction, instance, effect, actor)
      return { ...counted, approvals, instance: closed, refusal: undefined }
    }
    const evidenceSha256 = await evidenceDigest(gates, instanceId)
    const facts = {
      ...{ action, reviewComment: comment, approvals, approvalsNeeded: gate.approvals },
      evidenceSha256,
    }
    await transaction.audit.append(instanceEntry('gate.reviewed', instance, actor, facts))
    return { ...counted, approvals, instance, refusal: undefined }
  },
}
