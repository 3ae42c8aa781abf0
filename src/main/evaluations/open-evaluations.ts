import { Worker } from 'node:worker_threads'

import type { Config } from '../../config/config.js'
import { makeCostMetrics, makeEvaluationMetrics } from '../../http/metrics/evaluation-metrics.js'
import type { ServiceMetrics } from '../../http/metrics/service-metrics.js'
import type { Logger } from '../../lib/logger.js'
import { timesOfThread } from '../../lib/threads/thread-cpu-time.js'
import {
  Evaluations,
  SlowEvaluations,
  givenAway,
  type FromSlowThread,
  type SlowThread,
  type SlowThreadEvents,
  type EvaluationsOptions,
} from '../../rego/index.js'
import { openServedRequests } from './open-requests.js'
import { hasErrorCode } from '../../errors/app-error.js'
import { threadScript } from '../../lib/package-root.js'

const MS_PER_SECOND = 1000
/** An idle thread ends and so frees the memory of its evaluations. */
const IDLE_MS = 5000

/** The evaluations of the service, with the threads for slow ones. */
export interface OpenEvaluations {
  readonly evaluations: Evaluations
  /** The slow threads, for requests of worker processes. */
  readonly slow: Pick<SlowEvaluations, 'submit'>
  /**
   * Lets slow evaluations run for the longest time one may take, then refuses them and any others.
   */
  readonly drain: () => void
  /** Refuses evaluations that still wait. */
  readonly close: () => Promise<void>
}

/** Sets up the evaluations of the service. Threads start on demand. */
export function openEvaluations(config: Config, metrics: ServiceMetrics, logger: Logger): OpenEvaluations {
  const { limits, slowEvaluations, strictBuiltinErrors } = config.policies
  const requests = openServedRequests(config, metrics.registry)
  const { threads, queueLength, queueBytes, maxWaitSeconds } = slowEvaluations
  const counters = makeEvaluationMetrics(metrics.registry, {
    queued: () => slow.queued,
    running: () => slow.running,
  })
  const slow = new SlowEvaluations({
    start: startSlowThread,
    limits,
    timesOf: timesOfThread,
    settings: {
      threads,
      queueLength,
      queueBytes,
      maxWaitMs: maxWaitSeconds * MS_PER_SECOND,
      idleMs: IDLE_MS,
    },
    ended: counters.ended,
  })
  const evaluations = new Evaluations({
    slow,
    sliceMs: limits.sliceMs,
    strictBuiltinErrors,
    abandoned: counters.abandoned,
    spent: makeCostMetrics(metrics.registry),
    printed: logPrinted(config, logger),
    ...(requests && { requests }),
  })
  let draining: NodeJS.Timeout | undefined
  return {
    evaluations,
    slow,
    drain: () => {
      draining = setTimeout(() => slow.stop(), limits.maxDurationMs)
    },
    close: async () => {
      clearTimeout(draining)
      slow.stop()
      await requests?.close()
    },
  }
}

const SCRIPT = threadScript('evaluation')
/** Heap limit, in addition to the memory of the policy module, which has its own limit. */
const HEAP_MB = 512
/** V8's default on the deciding thread, so that both threads refuse the same nesting depths. */
const STACK_MB = 1

/** Starts a thread for slow evaluations. It does not keep the process alive. */
export function startSlowThread({ heard, ended }: SlowThreadEvents): SlowThread {
  const worker = new Worker(SCRIPT, {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, stackSizeMb: STACK_MB },
  })
  let isKilled = false
  let cause: Error | undefined
  worker.unref()
  worker.on('message', (message: FromSlowThread) => {
    if (!isKilled) heard(message)
  })
  worker.on('error', (error: Error) => (cause = error))
  worker.on('exit', () => {
    if (!isKilled) ended({ isOutOfMemory: hasErrorCode(cause, 'ERR_WORKER_OUT_OF_MEMORY'), cause })
  })
  return {
    send: (message) => worker.postMessage(message, givenAway(message)),
    kill: () => {
      isKilled = true
      void worker.terminate()
    },
  }
}

/**
 * Whether the output of `print` is logged. If not, the compiler leaves out calls of `print`, so
 * they cost nothing.
 */
export function showsPrinted({ log }: Pick<Config, 'log'>): boolean {
  return log.level === 'debug'
}

/** Logs each line that policies print. Undefined if these lines are not logged. */
export function logPrinted(config: Pick<Config, 'log'>, logger: Logger): EvaluationsOptions['printed'] {
  if (!showsPrinted(config)) return undefined
  return (lines) => {
    for (const line of lines) logger.debug({ printed: line }, 'a policy prints')
  }
}
