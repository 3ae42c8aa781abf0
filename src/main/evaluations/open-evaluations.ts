import type { Config } from '../../config/config.js'
import { makeCostMetrics, makeEvaluationMetrics } from '../../http/metrics/evaluation-metrics.js'
import type { ServiceMetrics } from '../../http/metrics/service-metrics.js'
import type { Logger } from '../../lib/logger.js'
import { timesOfThread } from '../../lib/threads/thread-cpu-time.js'
import { Evaluations, SlowEvaluations } from '../../rego/index.js'
import { openServedRequests } from './open-requests.js'
import { logPrinted } from './printed-lines.js'
import { startSlowThread } from '../threads/slow-thread.js'

const MS_PER_SECOND = 1000
/** The end of an idle thread gives the memory of its evaluations back. */
const IDLE_MS = 5000

/** The evaluations of the service, with the threads for what takes long. */
export interface OpenEvaluations {
  readonly evaluations: Evaluations
  /** The threads for what takes long, for workers. */
  readonly slow: Pick<SlowEvaluations, 'submit'>
  /** Lets those that take long go on for as long as one may take, and refuses them, and all others that would, after that. */
  readonly drain: () => void
  /** Refuses what still waits. */
  readonly close: () => Promise<void>
}

/** Makes them; a thread is started when it is first needed. */
export function openEvaluations(config: Config, metrics: ServiceMetrics, logger: Logger): OpenEvaluations {
  const { limits, slowEvaluations, strictBuiltinErrors } = config.policies
  const requests = openServedRequests(config, metrics.registry)
  const { threads, queueLength, queueBytes, maxWaitSeconds } = slowEvaluations
  const figures = makeEvaluationMetrics(metrics.registry, {
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
    ended: figures.ended,
  })
  const evaluations = new Evaluations({
    slow,
    sliceMs: limits.sliceMs,
    strictBuiltinErrors,
    abandoned: figures.abandoned,
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
