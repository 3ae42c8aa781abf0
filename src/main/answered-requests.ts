import type { Exchange } from '../http/exchange/exchange.js'
import { RequestLog } from '../http/pipeline/request-log.js'
import type { ServiceMetrics } from '../http/pipeline/service-metrics.js'
import type { Logger } from '../lib/logger.js'
import { optimizeAfterMany } from '../lib/threads/optimize.js'
import { YoungGeneration } from '../lib/threads/young-generation.js'

/** What a process does with each request that it has answered. */
export interface AnsweredRequests {
  /** Counts and logs it, and has V8 suit itself to how many there are. */
  readonly note: (exchange: Exchange) => void
  readonly close: () => void
}

export function openAnsweredRequests(metrics: ServiceMetrics, logger: Logger): AnsweredRequests {
  const youngGeneration = new YoungGeneration()
  const log = new RequestLog(logger)
  return {
    note: (exchange) => {
      youngGeneration.answered()
      optimizeAfterMany()
      metrics.requested(exchange)
      log.note(exchange)
    },
    close: () => {
      youngGeneration.stop()
      log.close()
    },
  }
}
