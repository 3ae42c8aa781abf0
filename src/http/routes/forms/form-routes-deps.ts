import type { OfferedAccount } from '../../../gates/connectors/form-fields.js'
import type { PipelineNumbers } from '../../../gates/definitions/pipeline-numbers.js'
import type { Reader } from '../../../store/ports/readers.js'
import type { Writer } from '../../../store/ports/transaction.js'

/** A policy that a form offers. */
export interface OfferedPolicy {
  /** Its path below `data`, which is also what people call it. */
  readonly path: string
  readonly id: number
}

/** What the routes behind the forms of stages need. */
export interface FormRoutesDeps {
  readonly reader: Reader
  readonly writer: Writer
  readonly now: () => number
  readonly maxBodyBytes: number
  readonly accounts: readonly OfferedAccount[]
  /** The groups that approvers of tokens belong to. */
  readonly groups: readonly string[]
  readonly environments: readonly string[]
  readonly runtimePolicies: () => readonly OfferedPolicy[]
  readonly numbers: PipelineNumbers
  /** Whether the forms of stages may make gates. */
  readonly makesGates: boolean
}
