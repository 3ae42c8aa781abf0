import { Counter, Gauge, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'

import { type CostFigures, type RequestFigures } from '../../rego/index.js'

const MS_PER_SECOND = 1000
const WAIT_BUCKETS = [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30]

/** What evaluations that take long are counted by. */
export interface EvaluationMetrics {
  /** An evaluation was given up on the thread that decides. */
  readonly abandoned: (lostMs: number) => void
  /** One that was left to the slow threads ended in a way, after it waited for a thread. */
  readonly ended: (how: string, waitedMs: number) => void
}

/** Adds the figures of evaluations that take long; how many there are now is asked for. */
export function makeEvaluationMetrics(
  registry: Registry,
  now: { readonly queued: () => number; readonly running: () => number },
): EvaluationMetrics {
  const registers = [registry]
  const slices = new Counter({
    name: 'tidegate_evaluation_slices_abandoned_total',
    help: 'Evaluations that did not end within their slice on the deciding thread, and were done again by a slow one.',
    registers,
  })
  const lost = new Counter({
    name: 'tidegate_evaluation_slices_abandoned_seconds_total',
    help: 'Time of the deciding thread that such evaluations took, in seconds.',
    registers,
  })
  const ended = new Counter({
    name: 'tidegate_slow_evaluations_total',
    help: 'Evaluations left to the slow threads, by how they ended: answered, failed, killed (its thread was, too), full, late or gone (refused).',
    labelNames: ['end'],
    registers,
  })
  const waits = new Histogram({
    name: 'tidegate_slow_evaluation_wait_seconds',
    help: 'How long evaluations waited for a slow thread.',
    buckets: WAIT_BUCKETS,
    registers,
  })
  addGauge(
    registers,
    'tidegate_slow_evaluations_queued',
    'Evaluations that wait for a slow thread.',
    now.queued,
  )
  addGauge(registers, 'tidegate_slow_evaluations_running', 'Slow threads at work.', now.running)
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

function addGauge(registers: Registry[], name: string, help: string, value: () => number): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(value())
    },
  })
}

const COST_BUCKETS: readonly number[] = [1e2, 1e3, 1e4, 1e5, 1e6, 1e7]
/** Packages with series of their own, in the order of their first evaluation. */
const MAX_PACKAGES = 200
/** Further packages with series of their own, if they take a large share of a decision over many packages. */
const MAX_EXPENSIVE = 50
const [MIN_PACKAGES_FOR_SHARE, EXPENSIVE_SHARE] = [20, 0.05]
const OTHERS = '(others)'

/** Registers the metrics of evaluation cost. Returns the function that records one decision. */
export function makeCostMetrics(registry: Registry): (cost: CostFigures) => void {
  const registers = [registry]
  const histogram = new Histogram({
    name: 'tidegate_evaluation_fuel',
    help: `Loop iterations, calls of functions and work of built-ins that an evaluation took of policies.limits.loopIterations, by package, of every sixteenth decision; of more than ${MAX_PACKAGES} packages the rest together, but for those that take much.`,
    labelNames: ['package'],
    buckets: [...COST_BUCKETS],
    registers,
  })
  const replaced = new Counter({
    name: 'tidegate_evaluator_instances_replaced_total',
    help: 'How many times memory for evaluations was set up anew, with all base documents, since it had been given up; told with every sixteenth decision.',
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

/** Adds what policies ask of others to the figures; returns who is to be told of it. */
export function makeRequestMetrics(registry: Registry): RequestFigures {
  const registers = [registry]
  const requests = new Counter({
    name: 'tidegate_policy_requests_total',
    help: 'Requests that policies made (http.send), by the entry of policies.requests.allowedHosts and by how they ended: the class of the status, failed, timed_out, or refused (not allowed, too large).',
    labelNames: ['host', 'outcome'],
    registers,
  })
  const durations = new Histogram({
    name: 'tidegate_policy_request_duration_seconds',
    help: 'How long such requests took.',
    labelNames: ['host'],
    buckets: REQUEST_BUCKETS,
    registers,
  })
  const cache = new Counter({
    name: 'tidegate_policy_request_cache_total',
    help: 'Calls of http.send that may be answered from the cache: hit, miss, or renewed since the server said that it still holds.',
    labelNames: ['outcome'],
    registers,
  })
  const modules = new Counter({
    name: 'tidegate_policy_modules_parsed_total',
    help: 'Modules that policies had parsed (rego.parse_module), by how that ended: parsed, no_module, refused (at a limit), failed, or cached.',
    labelNames: ['outcome'],
    registers,
  })
  const parsing = new Histogram({
    name: 'tidegate_policy_module_parse_duration_seconds',
    help: 'How long the opa program took to parse a module.',
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
