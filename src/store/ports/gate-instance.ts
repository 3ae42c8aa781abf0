/** Where an instance stands: the first two are open, the others final. */
export type InstanceState = 'not_activated' | 'activated' | 'approved' | 'rejected' | 'canceled' | 'expired'

/** What is still to be done for an instance without a person: fetch its evidence, then ask the gate's policy. */
export type InstanceWork = 'evidence' | 'policy'

/** One run of a gate, for one execution. Times are milliseconds since the epoch. */
export interface GateInstance {
  readonly id: number
  readonly gateId: number
  readonly gateName: string
  readonly application: string | undefined
  readonly executionId: string
  readonly state: InstanceState
  /** The words of the decision; empty while there are none. */
  readonly comment: string
  readonly createdMs: number
  readonly activatedMs: number | undefined
  readonly expiresMs: number
  readonly decidedMs: number | undefined
  /** Who decided: a person, `policy:PATH` or `orchestrator`. */
  readonly decidedBy: string | undefined
  /** Who triggered it, as the caller claims. */
  readonly triggeredBy: string | undefined
  /** The name of the token that it was triggered with. */
  readonly triggerToken: string | undefined
  /** SHA-256 of the body that triggered it, in hex. */
  readonly bodyDigest: string | undefined
  readonly approvalCallbackUrl: string | undefined
  readonly rejectionCallbackUrl: string | undefined
  readonly work: InstanceWork | undefined
  /** Why the gate's policy left the decision to people; undefined where it did not, or was not asked yet. */
  readonly policyProblem: string | undefined
  /** When the caller first showed that it had the answer to its trigger. */
  readonly acknowledgedMs: number | undefined
}

/** An instance that is not stored yet. */
export type NewInstance = Omit<GateInstance, 'id'>

export type ReviewAction = 'approve' | 'reject' | 'cancel'

/** What one person said. */
export interface Review {
  readonly person: string
  readonly action: ReviewAction
  readonly comment: string
  readonly timeMs: number
}

/** Whether an instance still waits for a decision. */
export function isOpen(state: InstanceState): state is 'not_activated' | 'activated' {
  return state === 'not_activated' || state === 'activated'
}
