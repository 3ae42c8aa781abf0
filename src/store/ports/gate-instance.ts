/** State of an instance. The first two are open, the others final. */
export type InstanceState = 'not_activated' | 'activated' | 'approved' | 'rejected' | 'canceled' | 'expired'

/** The next automatic step of an instance: fetching evidence, then evaluating the gate's policy. */
export type InstanceWork = 'evidence' | 'policy'

/** One run of a gate for one execution. Times are epoch milliseconds. */
export interface GateInstance {
  readonly id: number
  readonly gateId: number
  readonly gateName: string
  readonly application: string | undefined
  readonly executionId: string
  readonly state: InstanceState
  /** Comment of the decision; empty before it. */
  readonly comment: string
  readonly createdMs: number
  readonly activatedMs: number | undefined
  readonly expiresMs: number
  readonly decidedMs: number | undefined
  /** A person, `policy:PATH` or `orchestrator`. */
  readonly decidedBy: string | undefined
  /** The user who triggered the instance, as claimed by the caller. */
  readonly triggeredBy: string | undefined
  /** Name of the token that triggered the instance. */
  readonly triggerToken: string | undefined
  /** SHA-256 of the body of the trigger, in hex. */
  readonly bodyDigest: string | undefined
  readonly approvalCallbackUrl: string | undefined
  readonly rejectionCallbackUrl: string | undefined
  readonly work: InstanceWork | undefined
  /**
   * Why the gate's policy left the decision to people; undefined if it did not or was not
   * evaluated.
   */
  readonly policyProblem: string | undefined
  /** When the next reminder or notice of its end is due; undefined for never. */
  readonly noticeMs: number | undefined
  /** When the caller first proved that it knows the instance. */
  readonly acknowledgedMs: number | undefined
}

/** An instance that is not stored yet. */
export type NewInstance = Omit<GateInstance, 'id'>

export type ReviewAction = 'approve' | 'reject' | 'cancel'

/** Review by one person. */
export interface Review {
  readonly person: string
  readonly action: ReviewAction
  readonly comment: string
  readonly timeMs: number
  /** Groups that the person had, or the one who gave the rights; absent in reviews of earlier releases. */
  readonly groups?: readonly string[] | undefined
  /** Who gave the person the rights for this review. */
  readonly onBehalfOf?: string | undefined
}

/** The rights of one approver, given to another person until a time. */
export interface Delegation {
  readonly id: number
  readonly from: string
  readonly to: string
  /** Groups of the approver when the rights were given. */
  readonly groups: readonly string[]
  readonly reason: string
  readonly createdMs: number
  readonly untilMs: number
}

/** Whether an instance waits for a decision. */
export function isOpen(state: InstanceState): state is 'not_activated' | 'activated' {
  return state === 'not_activated' || state === 'activated'
}
