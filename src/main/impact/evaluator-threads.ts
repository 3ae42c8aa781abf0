import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

import { AppError, hasErrorCode } from '../../errors/app-error.js'
import type { AffectedPackages, CaseTask, CompareCases, ComparedCase } from '../../impact/compare-cases.js'
import type { EvaluationSettings } from '../../impact/evaluate-case.js'
import { threadScript } from '../../lib/package-root.js'
import { fromFailure } from '../../lib/threads/failure.js'
import type { Failure } from '../../lib/threads/failure.js'
import type { EvaluationLimits, PackedSnapshot } from '../../rego/index.js'
import { IMPACT_MEMORY } from '../threads/impact-thread.js'

/** Start options of a thread that compares cases. */
export interface EvaluatorOptions {
  readonly before: PackedSnapshot
  readonly after: PackedSnapshot
  readonly limits: EvaluationLimits
  readonly settings: EvaluationSettings
  readonly affected: AffectedPackages
}

/** The answer to a batch. Batches are answered in order. */
export type EvaluatorMessage = { readonly compared: readonly ComparedCase[] } | { readonly failure: Failure }

const SCRIPT = threadScript('impact-evaluator')
const MAX_THREADS = 2

interface Waiting {
  readonly resolve: (compared: readonly ComparedCase[]) => void
  readonly reject: (error: Error) => void
}

interface Evaluator {
  readonly worker: Worker
  readonly waiting: Waiting[]
}

/** Threads that evaluate the cases of one comparison, on two cores at most. */
export class EvaluatorThreads {
  readonly #evaluators: readonly Evaluator[]

  constructor(options: EvaluatorOptions) {
    const count = Math.min(MAX_THREADS, availableParallelism())
    this.#evaluators = Array.from({ length: count }, () => startEvaluator(options))
  }

  /** Compares cases in the thread that has the least to do. Raises `unavailable` if it ends. */
  readonly compare: CompareCases = (tasks) => {
    const [first, ...others] = this.#evaluators
    const chosen = others.reduce(
      (least, other) => (other.waiting.length < (least?.waiting.length ?? Infinity) ? other : least),
      first,
    )
    return new Promise((resolve, reject) => {
      chosen?.waiting.push({ resolve, reject })
      chosen?.worker.postMessage(tasks.map(copyOf))
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.#evaluators.map(({ worker }) => worker.terminate()))
  }
}

/** An input may be a part of a larger buffer, which would be sent with it. */
function copyOf({ replayed, ...task }: CaseTask): CaseTask {
  const { input } = replayed
  return { ...task, replayed: { ...replayed, input: input && new Uint8Array(input) } }
}

function startEvaluator(options: EvaluatorOptions): Evaluator {
  const worker = new Worker(SCRIPT, { workerData: options, resourceLimits: IMPACT_MEMORY.limits })
  const waiting: Waiting[] = []
  const fail = (error: Error): void => {
    for (const { reject } of waiting.splice(0)) reject(error)
  }
  worker.on('message', (message: EvaluatorMessage) => {
    const next = waiting.shift()
    if ('failure' in message) next?.reject(fromFailure(message.failure))
    else next?.resolve(message.compared)
  })
  worker.on('error', (cause) => {
    const isOutgrown = hasErrorCode(cause, 'ERR_WORKER_OUT_OF_MEMORY')
    fail(new AppError('unavailable', isOutgrown ? IMPACT_MEMORY.outgrown : cause.message, { cause }))
  })
  worker.on('exit', () => fail(new AppError('unavailable', 'a thread of the comparison ended unexpectedly')))
  return { worker, waiting }
}
