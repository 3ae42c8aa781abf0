import { median } from 'd3-array'

import type { Pair, Random, Row } from './generate-pairs.js'
import { normal } from './generate-pairs.js'

const LEVEL = 100
const POINTS = 60
const POD_DEVIATION = 0.03
const FORMER_RUNS = 20

/** Pods with permanent differences, each with its own noise. */
function pods(count: number, change = 1): (random: Random) => Float64Array[] {
  return (random) =>
    Array.from({ length: count }, () => {
      const level = LEVEL * change * (1 + POD_DEVIATION * random.normal())
      return normal(level, 0.02 * level)(random, POINTS)
    })
}

/** Sides with this many pods. */
const podRow =
  (control: number, experiment: number, change = 1) =>
  (random: Random): Pair => {
    const units = { control: pods(control)(random), experiment: pods(experiment, change)(random) }
    const empty = new Float64Array()
    return { control: units.control[0] ?? empty, experiment: units.experiment[0] ?? empty, units }
  }

/** Sides with one pod, and knowledge from earlier runs of the same service. */
const learnedRow =
  (change = 1) =>
  (random: Random): Pair => {
    const pair = podRow(1, 1, change)(random)
    const apart = Array.from({ length: FORMER_RUNS }, () =>
      Math.abs(POD_DEVIATION * (random.normal() - random.normal())),
    )
    const deviation = 1.4826 * (median(apart) ?? 0)
    return {
      control: pair.control,
      experiment: pair.experiment,
      usualSpread: { runs: FORMER_RUNS, deviation },
    }
  }

/** Pods with heavy-tailed levels (Pareto with index 2) and variances in proportion. */
const heavyPods =
  (count: number) =>
  (random: Random): Float64Array[] =>
    Array.from({ length: count }, () => {
      const level = LEVEL / Math.sqrt(1 - random.uniform())
      return normal(level, 0.05 * level)(random, POINTS)
    })

const heavyRow = (random: Random): Pair => {
  const units = { control: heavyPods(3)(random), experiment: heavyPods(3)(random) }
  const empty = new Float64Array()
  return { control: units.control[0] ?? empty, experiment: units.experiment[0] ?? empty, units }
}

const row = (name: string, wanted: Row['wanted'], limit: number, make: Row['make']): Row => ({
  ...{ name, wanted, limit, make },
})

/** Pods that differ by 3 % without a change. */
export const POD_ROWS: readonly Row[] = [
  row('A/A 3 and 3 pods', 'none', 2, podRow(3, 3)),
  row('A/A 3 and 3 heavy-tailed pods', 'none', 2, heavyRow),
  row('A/A 10 and 10 pods', 'none', 2, podRow(10, 10)),
  row('A/A 10 pods and 1', 'none', 2, podRow(10, 1)),
  row('A/A 1 and 1 pod, 20 former runs', 'none', 2, learnedRow()),
  row('+25 % of 3 and 3 pods', 'found', 85, podRow(3, 3, 1.25)),
  row('+15 % of 10 and 10 pods', 'found', 95, podRow(10, 10, 1.15)),
  row('+25 % of 10 pods and 1', 'found', 95, podRow(10, 1, 1.25)),
  row('+30 % of 1 and 1 pod, 20 former runs', 'found', 85, learnedRow(1.3)),
]
