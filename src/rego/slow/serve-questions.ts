import type { MessagePort } from 'node:worker_threads'

import { AppError } from '../../errors/app-error.js'
import { systemThreadId } from '../../lib/threads/thread-cpu-time.js'
import type { Builtins } from '../builtins/shared/builtin.js'
import { packCalls, packMissing, unpackCalls } from '../builtins/shared/recorded-calls.js'
import { newCall } from '../evaluation/new-call.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { EvaluationCost } from '../metering/evaluation-cost.js'
import type { Answered, FromSlowThread, SlowRequest, ToSlowThread } from './messages.js'
import { TraceRecorder } from '../tracing/trace.js'
import { AnswerMissing } from '../evaluation/answer-missing.js'
import { unpackSnapshot } from './packed-snapshot.js'
import { answerQuestion } from './question.js'
import { packFailure } from './slow-failure.js'

/** Evaluates questions from a port one after the other, with the full budget each. */
export function serveQuestions(port: MessagePort, builtins: Builtins): void {
  const systemId = systemThreadId()
  const tell = (message: FromSlowThread): void => port.postMessage(message)
  let loading: Promise<Snapshot> | undefined

  async function answer(message: Extract<ToSlowThread, { type: 'evaluate' }>): Promise<void> {
    try {
      if (loading === undefined) throw new AppError('internal', 'a question came before its policies')
      const snapshot = await loading
      tell({ type: 'begun', systemId })
      tell({ type: 'answered', ...answerOf(snapshot, message.request) })
    } catch (raw) {
      tell({ type: 'failed', failure: packFailure(raw) })
    }
  }

  port.on('message', (message: ToSlowThread) => {
    if (message.type === 'evaluate') void answer(message)
    else loading = load(message, builtins)
  })
}

function answerOf(snapshot: Snapshot, request: SlowRequest): Answered {
  const { question, input, nowMs, strictBuiltinErrors, isVerdict, allowsRequests = false } = request
  const cost = new EvaluationCost()
  const recorded = unpackCalls(request.recorded)
  const printed: string[] = []
  const print = request.wantsPrinted === true ? (line: string) => void printed.push(line) : undefined
  const tracer = request.wantsTrace === true ? new TraceRecorder() : undefined
  const options = { nowMs, strictBuiltinErrors, isVerdict, cost, recorded, allowsRequests, print, tracer }
  const call = newCall(options)
  try {
    const answer = answerQuestion(snapshot, question, input, call)
    const trace = tracer?.finish()
    return { answer, cost: cost.measurements, recorded: packCalls(call.recorded), printed, trace }
  } catch (raw) {
    if (!(raw instanceof AnswerMissing)) {
      if (tracer === undefined) throw raw
      return { answer: undefined, failure: packFailure(raw), trace: tracer.finish() }
    }
    return { answer: { missing: packMissing(raw.call) }, recorded: packCalls(raw.recorded) }
  }
}

/** A failure to load is returned for the next question. */
function load(
  { snapshot, limits }: Extract<ToSlowThread, { type: 'load' }>,
  builtins: Builtins,
): Promise<Snapshot> {
  const loading = unpackSnapshot(snapshot, builtins, limits)
  loading.catch(() => undefined)
  return loading
}
