import type { MissingCall, RecordedCalls } from '../builtins/shared/recorded-calls.js'
import { EvaluationAbort } from '../wasm/module/evaluation-abort.js'

/**
 * Ends an evaluation that needs the answer of a call to another host. The evaluation is repeated
 * with it from the start.
 */
export class AnswerMissing extends EvaluationAbort {
  readonly call: MissingCall
  /** The recorded calls so far, which the repeated evaluation uses. */
  readonly recorded: RecordedCalls

  constructor(call: MissingCall, recorded: RecordedCalls) {
    super(`${call.name} is not answered yet`)
    this.name = 'AnswerMissing'
    this.call = call
    this.recorded = recorded
  }
}
