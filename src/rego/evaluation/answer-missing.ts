import type { MissingCall, RecordedCalls } from '../builtins/shared/recorded-calls.js'
import { EvaluationAbort } from '../wasm/module/evaluation-abort.js'

/** The evaluation calls something that only somebody outside can answer: it has to be made again with the answer, from the start. */
export class AnswerMissing extends EvaluationAbort {
  readonly call: MissingCall
  /** What was recorded until then, which has to be the same when it is made again. */
  readonly recorded: RecordedCalls

  constructor(call: MissingCall, recorded: RecordedCalls) {
    super(`${call.name} is not answered yet`)
    this.name = 'AnswerMissing'
    this.call = call
    this.recorded = recorded
  }
}
