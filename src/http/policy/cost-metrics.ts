import { Counter } from 'prom-client'
import type { Registry } from 'prom-client'

import type { CostFigures } from '../../pdp/metering/evaluation-cost.js'
import { PlainHistogram } from '../pipeline/figures/plain-histogram.js'
import type { HistogramSeries } from '../pipeline/figures/plain-histogram.js'

const BUCKETS: readonly number[] = [1e2, 1e3, 1e4, 1e5, 1e6, 1e7]
/** Packages that have series of their own: those that are asked first. */
const MAX_PACKAGES = 200
/** And so many more of those that take a large share of a decision over many: a rule that is dear is to be seen wherever it stands. */
const MAX_DEAR = 50
const [MANY, LARGE_SHARE] = [20, 0.05]
const OTHERS = '(others)'

/** Adds what evaluations cost, by package, to the figures; returns what is to be told of each question. */
export function makeCostMetrics(registry: Registry): (cost: CostFigures) => void {
  const histogram = new PlainHistogram({
    name: 'tidegate_evaluation_fuel',
    help: `Loop iterations and work of built-ins that an evaluation took of policies.limits.loopIterations, by package, of every sixteenth decision; of more than ${MAX_PACKAGES} packages the rest together, but for those that take much.`,
    buckets: BUCKETS,
  })
  registry.registerMetric(histogram.metric)
  let replaced = 0
  new Counter({
    name: 'tidegate_evaluator_instances_replaced_total',
    help: 'How many times memory for evaluations was set up anew, with all base documents, since it had been given up; told with every sixteenth decision.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(replaced)
    },
  })
  const series = new Map<string, HistogramSeries>()
  const find = (name: string, isDear = false): HistogramSeries => {
    const known = series.get(name)
    if (known !== undefined) return known
    const most = isDear ? MAX_PACKAGES + MAX_DEAR : MAX_PACKAGES
    if (series.size >= most && name !== OTHERS) return find(OTHERS)
    const made = histogram.begin({ package: name })
    series.set(name, made)
    return made
  }
  return ({ fuel, packages, packageFuel, instancesReplaced }) => {
    replaced += instancesReplaced
    const dear = packages.length > MANY ? fuel * LARGE_SHARE : Infinity
    for (const [place, name] of packages.entries()) {
      const own = packageFuel[place] ?? 0
      histogram.observe(find(name, own > dear), own)
    }
  }
}
