import { Counter, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'
import { ScrapedMetrics } from './scraped-metrics.js'

import type { CostMeasurements, RequestMetrics } from '../../rego/index.js'

const MS_PER_SECOND = 1000
const WAIT_BUCKETS = [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30]

/** Records slow evaluations. */
export interface EvaluationMetrics {
  /** An evaluation exceeded its slice on the deciding thread. */
  readonly abandoned: (lostMs: number) => void
  /** An evaluation on a slow thread ended, after waiting for the thread. */
  readonly ended: (how: string, waitedMs: number) => void
}

/** Registers the metrics of slow evaluations. `now` returns the current numbers. */
export function makeEvaluationMetrics(
  registry: Registry,
  now: { readonly queued: () => number; readonly running: () => number },
): EvaluationMetrics {
  const registers = [registry]
  const slices = new Counter({
    name: 'tidegate_evaluation_slices_abandoned_total',
    help: 'Evaluations that exceeded their slice on the deciding thread and were repeated on a slow thread.',
    registers,
  })
  const lost = new Counter({
    name: 'tidegate_evaluation_slices_abandoned_seconds_total',
    help: 'Time of the deciding thread spent on these evaluations, in seconds.',
    registers,
  })
  const ended = new Counter({
    name: 'tidegate_slow_evaluations_total',
    help: 'Evaluations on slow threads by outcome: answered, failed, killed (with its thread), full, late or gone (refused).',
    labelNames: ['end'],
    registers,
  })
  const waits = new Histogram({
    name: 'tidegate_slow_evaluation_wait_seconds',
    help: 'Time that evaluations waited for a slow thread.',
    buckets: WAIT_BUCKETS,
    registers,
  })
  const metrics = new ScrapedMetrics(registry)
  metrics.gauge('tidegate_slow_evaluations_queued', 'Evaluations that wait for a slow thread.', now.queued)
  metrics.gauge('tidegate_slow_evaluations_running', 'Busy slow threads.', now.running)
  return {
    abandoned: (lostMs) => {
      slices.inc()
      lost.inc(lostMs / MS_PER_SECOND)
    },
    ended: (how, waitedMs) => {
      ended.inc({ end: how })
      waits.observe(waitedMs / MS_PER_SECOND)
    },
  }
}

/** Name of the histogram of evaluation cost. */
export const COST_METRIC = 'tidegate_evaluation_fuel'
const COST_BUCKETS: readonly number[] = [1e2, 1e3, 1e4, 1e5, 1e6, 1e7]
/** Maximum packages with their own series, in the order of their first evaluation. */
const MAX_PACKAGES = 200
/**
 * Additional packages with their own series, if they take a large share of a decision over many
 * packages.
 */
const MAX_EXPENSIVE = 50
const [MIN_PACKAGES_FOR_SHARE, EXPENSIVE_SHARE] = [20, 0.05]
const OTHERS = '(others)'

/** Registers the metrics of evaluation cost. Returns the function that records one decision. */
export function makeCostMetrics(registry: Registry): (cost: CostMeasurements) => void {
  const registers = [registry]
  const histogram = new Histogram({
    name: COST_METRIC,
    help: `Evaluation cost by package: loop iterations, function calls and work of built-ins, counted against policies.limits.loopIterations. Sampled for every 16th decision; beyond ${MAX_PACKAGES} packages, only expensive ones have their own series.`,
    labelNames: ['package'],
    buckets: [...COST_BUCKETS],
    registers,
  })
  const replaced = new Counter({
    name: 'tidegate_evaluator_instances_replaced_total',
    help: 'How often evaluation memory was recreated with all base documents. Reported with every 16th decision.',
    registers,
  })
  const named = new Set<string>()
  const labelOf = (name: string, isExpensive: boolean): string => {
    const max = isExpensive ? MAX_PACKAGES + MAX_EXPENSIVE : MAX_PACKAGES
    if (!named.has(name) && named.size >= max) return OTHERS
    named.add(name)
    return name
  }
  return ({ fuel, packages, packageFuel, instancesReplaced }) => {
    replaced.inc(instancesReplaced)
    const expensive = packages.length > MIN_PACKAGES_FOR_SHARE ? fuel * EXPENSIVE_SHARE : Infinity
    for (const [place, name] of packages.entries()) {
      const own = packageFuel[place] ?? 0
      histogram.observe({ package: labelOf(name, own > expensive) }, own)
    }
  }
}

const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Registers the metrics of requests that policies make. Returns the functions that record them. */
export function makeRequestMetrics(registry: Registry): RequestMetrics {
  const registers = [registry]
  const requests = new Counter({
    name: 'tidegate_policy_requests_total',
    help: 'Requests by policies (http.send), by entry of policies.requests.allowedHosts and outcome: the status class, failed, timed_out, or refused (not allowed or too large).',
    labelNames: ['host', 'outcome'],
    registers,
  })
  const durations = new Histogram({
    name: 'tidegate_policy_request_duration_seconds',
    help: 'Duration of requests by policies.',
    labelNames: ['host'],
    buckets: REQUEST_BUCKETS,
    registers,
  })
  const cache = new Counter({
    name: 'tidegate_policy_request_cache_total',
    help: 'Cacheable http.send calls by outcome: hit, miss, or renewed after revalidation.',
    labelNames: ['outcome'],
    registers,
  })
  const modules = new Counter({
    name: 'tidegate_policy_modules_parsed_total',
    help: 'Modules parsed for policies (rego.parse_module) by outcome: parsed, no_module, refused (at a limit), failed, or cached.',
    labelNames: ['outcome'],
    registers,
  })
  const parsing = new Histogram({
    name: 'tidegate_policy_module_parse_duration_seconds',
    help: 'Time that the opa program took to parse a module.',
    buckets: REQUEST_BUCKETS,
    registers,
  })
  return {
    requested: (host, outcome, seconds) => {
      requests.inc({ host, outcome })
      durations.observe({ host }, seconds)
    },
    cached: (outcome) => cache.inc({ outcome }),
    parsed: (outcome, seconds) => {
      modules.inc({ outcome })
      if (outcome !== 'cached') parsing.observe(seconds)
    },
  }
}
