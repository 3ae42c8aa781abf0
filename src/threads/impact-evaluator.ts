import { parentPort, workerData } from 'node:worker_threads'

import { comparisonOf, type CaseTask } from '../impact/compare-cases.js'
import { CaseEvaluator } from '../impact/evaluate-case.js'
import { toFailure } from '../lib/threads/failure.js'
import { becomeIdleWork } from '../lib/threads/thread-cpu-time.js'
import type { EvaluatorMessage, EvaluatorOptions } from '../main/impact/evaluator-threads.js'
import { hostBuiltins, unpackSnapshot } from '../rego/index.js'

// Entry point of a thread that evaluates cases of a comparison with two revisions.
if (parentPort !== null) {
  const port = parentPort
  const { before, after, limits, settings, affected } = workerData as EvaluatorOptions
  const load = async (): Promise<ReturnType<typeof comparisonOf>> => {
    const sides = {
      before: new CaseEvaluator(await unpackSnapshot(before, hostBuiltins, limits), settings),
      after: new CaseEvaluator(await unpackSnapshot(after, hostBuiltins, limits), settings),
    }
    becomeIdleWork()
    return comparisonOf(sides, affected)
  }
  const comparison = load()
  const answer = async (tasks: readonly CaseTask[]): Promise<EvaluatorMessage> => {
    try {
      return { compared: await (await comparison)(tasks) }
    } catch (raw) {
      return { failure: toFailure(raw) }
    }
  }
  let last = Promise.resolve()
  port.on('message', (tasks: readonly CaseTask[]) => {
    last = last.then(async () => port.postMessage(await answer(tasks)))
  })
}
