import { Counter, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'

import type { CostMeasurements } from '../../rego/index.js'

const BUCKETS: readonly number[] = [1e2, 1e3, 1e4, 1e5, 1e6, 1e7]
/** Packages with series of their own, in the order of their first evaluation. */
const MAX_PACKAGES = 200
/** Further packages with series of their own, if they take a large share of a decision over many packages. */
const MAX_EXPENSIVE = 50
const [MANY, LARGE_SHARE] = [20, 0.05]
const OTHERS = '(others)'

/** Registers the metrics of evaluation cost. Returns the function that records one decision. */
export function makeCostMetrics(registry: Registry): (cost: CostMeasurements) => void {
  const registers = [registry]
  const histogram = new Histogram({
    name: 'tidegate_evaluation_fuel',
    help: `Loop iterations, calls of functions and work of built-ins that an evaluation took of policies.limits.loopIterations, by package, of every sixteenth decision; of more than ${MAX_PACKAGES} packages the rest together, but for those that take much.`,
    labelNames: ['package'],
    buckets: [...BUCKETS],
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
    const expensive = packages.length > MANY ? fuel * LARGE_SHARE : Infinity
    for (const [place, name] of packages.entries()) {
      const own = packageFuel[place] ?? 0
      histogram.observe({ package: labelOf(name, own > expensive) }, own)
    }
  }
}
