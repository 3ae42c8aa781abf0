import { toAppError } from '../../errors/app-error.js'
import type { AppError } from '../../errors/app-error.js'
import type { NewCallOptions } from '../evaluation/new-call.js'
import { answerQuestion } from '../slow/question.js'
import type { Answer, Question } from '../slow/question.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'
import { TraceRecorder } from '../tracing/trace.js'
import type { Trace } from '../tracing/trace.js'
import type { TracedPolicies } from './traced-policies.js'

/** The outcome of an evaluation with markers. The trace of a failed one ends where it failed. */
export interface TracedOutcome {
  readonly answer: Answer
  readonly error?: AppError | undefined
  readonly trace: Trace
}

/** Runs an evaluation, repeatedly if answers of other hosts are missing. */
export type RunEvaluation = (
  evaluate: (call: EvaluationCall) => Answer,
  options: Pick<NewCallOptions, 'tracer'>,
) => Promise<Answer>

/** Evaluates a question with markers in this thread. Never rejects. */
export async function evaluateTraced(
  { snapshot }: TracedPolicies,
  question: Question,
  input: Uint8Array | undefined,
  run: RunEvaluation,
): Promise<TracedOutcome> {
  let recorder = new TraceRecorder()
  const evaluate = (call: EvaluationCall): Answer => {
    recorder = new TraceRecorder()
    return answerQuestion(snapshot, question, input, call)
  }
  try {
    const answer = await run(evaluate, {
      tracer: {
        record: (format, values) => recorder.record(format, values),
        count: (format) => recorder.count(format),
      },
    })
    return { answer, trace: recorder.finish() }
  } catch (raw) {
    return { answer: undefined, error: toAppError(raw), trace: recorder.finish() }
  }
}
