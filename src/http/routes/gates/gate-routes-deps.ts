import type { GateInstance } from '../../../store/ports/gate-instance.js'
import type { AcknowledgeStatus } from '../../../gates/reviewing/acknowledge.js'
import type { IgnoredReviews } from '../../../gates/reviewing/ignored-reviews.js'
import type { Approver } from '../../../gates/instances/transition.js'
import type { PipelineNumbers } from '../../../gates/definitions/pipeline-numbers.js'
import type { StageRule } from '../../../gates/definitions/find-stage-gate.js'
import type { AddressPolicy } from '../../../lib/outbound/address-policy.js'
import type { Reader, Readers } from '../../../store/ports/readers.js'
import type { Writer } from '../../../store/ports/transaction.js'

/** Assigns a policy to policy stages. */
export interface StagePolicy extends StageRule {
  /** Path under `data`. */
  readonly policy: string
}
export interface GateRoutesDeps {
  readonly writer: Writer
  readonly reader: Reader
  readonly lookups: Pick<Readers, 'gates' | 'outbox' | 'registry'>
  readonly now: () => number
  /** Allowed callback addresses. */
  readonly callbackTargets: AddressPolicy
  /** URL of the service for the orchestrator; undefined if not configured. */
  readonly orchestratorUrl: string | undefined
  /** URL of the service for people. */
  readonly publicUrl: string | undefined
  readonly maxBodyBytes: number
  /** Authentication context that reviews of accounts require; undefined if any will do. */
  readonly approvalAcr: string | undefined
  /** All approvers; undefined if they are not known because anybody or a provider may name them. */
  readonly approvers: readonly Approver[] | undefined
  /** Notifies background work of a triggered instance. */
  readonly triggered: (instance: GateInstance) => void
  /** Notifies the callback sender of a closed instance. */
  readonly closed: () => void
  /** Called before the status of an instance is returned. */
  readonly acknowledge: AcknowledgeStatus
  /** Limits how many refused reviews are recorded. */
  readonly ignoredReviews: IgnoredReviews
  readonly stagePolicies: readonly StagePolicy[]
  readonly numbers: PipelineNumbers
  /** True if stage forms may create gates (`gates.fromStages`). */
  readonly makesGates: boolean
}
