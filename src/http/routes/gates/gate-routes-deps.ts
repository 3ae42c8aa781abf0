import type { GateInstance } from '../../../store/ports/gate-instance.js'
import type { AcknowledgeStatus } from '../../../gates/reviewing/acknowledge.js'
import type { IgnoredReviews } from '../../../gates/reviewing/ignored-reviews.js'
import type { Approver } from '../../../gates/instances/transition.js'
import type { PipelineNumbers } from '../../../gates/definitions/pipeline-numbers.js'
import type { StageRule } from '../../../gates/definitions/find-stage-gate.js'
import type { AddressPolicy } from '../../../lib/outbound/address-policy.js'
import type { Reader, Readers } from '../../../store/ports/readers.js'
import type { Writer } from '../../../store/ports/transaction.js'

/** Which policy a policy stage is sent to. */
export interface StagePolicy extends StageRule {
  /** Its path below `data`. */
  readonly policy: string
}

/** What the routes of gates need. */
export interface GateRoutesDeps {
  readonly writer: Writer
  readonly reader: Reader
  readonly lookups: Pick<Readers, 'gates' | 'outbox' | 'registry'>
  readonly now: () => number
  /** Where callbacks may go. */
  readonly callbackTargets: AddressPolicy
  /** Where the orchestrator reaches the service; undefined when it is not configured. */
  readonly orchestratorUrl: string | undefined
  /** Where people reach it. */
  readonly publicUrl: string | undefined
  readonly maxBodyBytes: number
  /** The groups of the bearer of a token. */
  readonly groupsOf: (tokenName: string) => readonly string[]
  /** Everybody who may decide; undefined where nobody is asked to prove who they are. */
  readonly approvers: readonly Approver[] | undefined
  /** Tells those who do the rest that an instance was triggered. */
  readonly triggered: (instance: GateInstance) => void
  /** Tells the sender of callbacks that an instance was closed. */
  readonly closed: () => void
  /** Called for each instance whose status is about to be answered. */
  readonly acknowledge: AcknowledgeStatus
  /** Bounds what is written of reviews without the right. */
  readonly ignoredReviews: IgnoredReviews
  readonly stagePolicies: readonly StagePolicy[]
  readonly numbers: PipelineNumbers
  /** Whether the forms of stages may make gates. */
  readonly makesGates: boolean
}
