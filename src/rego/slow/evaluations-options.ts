import type { AppError } from '../../errors/app-error.js'
import type { RecordedCalls } from '../builtins/shared/recorded-calls.js'
import type { CostMeasurements } from '../metering/evaluation-cost.js'
import type { PolicyRequests } from '../requests/policy-requests.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { SlowFailure } from './messages.js'
import type { SlowEvaluations } from './slow-evaluations.js'
import type { StrictBuiltinErrors } from './strict-builtin-errors.js'

/** The options of an evaluation. */
export interface EvaluateOptions {
  /** The time of the decision, in milliseconds since the epoch. */
  readonly nowMs: number
  /** True if the client requests an error for failed built-ins, whatever the configuration. */
  readonly strictBuiltinErrors?: boolean
  /** True if a document is used as a verdict. Runtime and static questions always are. */
  readonly isVerdict?: boolean
  /** The caller, which takes turns with other callers in the queue. */
  readonly caller?: string | undefined
  /** True to report the cost before the answer. */
  readonly wantsCost?: boolean
  /** Results of calls in an earlier evaluation of the same decision, which are reused. */
  readonly known?: RecordedCalls | undefined
  spent?(cost: CostMeasurements): void
  /** Receives the calls with results that may differ next time, if any, before the answer. */
  recorded?(calls: RecordedCalls): void
  /** Receives a function that cancels the evaluation when the client has gone. */
  onClientGone?(drop: () => void): void
}

export interface EvaluationsOptions {
  readonly slow: Pick<SlowEvaluations, 'submit' | 'isFree'>
  /**
   * Longest time that an evaluation may use the deciding thread, in milliseconds; 0 sends all
   * evaluations to the slow threads.
   */
  readonly sliceMs: number
  /** `policies.strictBuiltinErrors`; `verdicts` by default. */
  readonly strictBuiltinErrors?: StrictBuiltinErrors
  /** Called for each aborted evaluation with its time in milliseconds. */
  readonly abandoned: (lostMs: number) => void
  /** Receives the cost of every sixteenth evaluation. The object is reused for the next one. */
  readonly spent?: (cost: CostMeasurements) => void
  /** Receives printed lines at the end of an evaluation; absent if nothing reads them. */
  readonly printed?: ((lines: readonly string[]) => void) | undefined
  /** Sends requests of policies to other hosts; absent if policies may send none. */
  readonly requests?: Pick<PolicyRequests, 'begin'>
  /**
   * Adds source locations to the error of a failed evaluation; absent if the sources are in this
   * thread.
   */
  readonly locate?: (failure: SlowFailure, snapshot: Snapshot) => Promise<AppError>
}
