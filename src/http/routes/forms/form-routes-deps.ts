import type { OfferedAccount } from '../../../gates/connectors/form-fields.js'
import type { PipelineNumbers } from '../../../gates/definitions/pipeline-numbers.js'
import type { Reader } from '../../../store/ports/readers.js'
import type { Writer } from '../../../store/ports/transaction.js'

/** A policy that a form offers. */
export interface OfferedPolicy {
  /** Path under `data`, also shown as its name. */
  readonly path: string
  readonly id: number
}
export interface FormRoutesDeps {
  readonly reader: Reader
  readonly writer: Writer
  readonly now: () => number
  readonly maxBodyBytes: number
  readonly accounts: readonly OfferedAccount[]
  /** Groups of approvers. */
  readonly groups: readonly string[]
  readonly environments: readonly string[]
  readonly runtimePolicies: () => readonly OfferedPolicy[]
  readonly numbers: PipelineNumbers
  /** True if stage forms may create gates (`gates.fromStages`). */
  readonly makesGates: boolean
}
