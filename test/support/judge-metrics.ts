import { readCanaryConfig } from '../../src/canary/judge/canary-config.js'
import { judgeMetrics } from '../../src/canary/judge/judge-run.js'
import type { JudgeOptions, JudgeReport, MetricResult } from '../../src/canary/judge/series/types.js'
import { makeRandom } from '../../bench/judge/generate-pairs.js'

type Points = ArrayLike<number | null>
/** A metric with its points; `canary` is its configuration. */
export interface Metric {
  readonly control: Points
  readonly experiment: Points
  readonly canary?: object
  readonly group?: string
  readonly exposure?: { readonly control: ArrayLike<number>; readonly experiment: ArrayLike<number> }
  readonly [more: string]: unknown
}

const asArrays = ({ control, experiment }: NonNullable<Metric['exposure']>): object => ({
  control: Array.from(control),
  experiment: Array.from(experiment),
})

/** Judges metrics with thresholds of 90 and 60. */
export const judge = (
  metrics: readonly Metric[],
  { weights = {}, ...options }: Partial<JudgeOptions> & { weights?: Record<string, number> } = {},
): JudgeReport => {
  const input = readCanaryConfig({
    metrics: metrics.map(({ control, experiment, canary = {}, group = 'g', exposure, ...more }, index) => ({
      name: `m${index}`,
      groups: [group],
      analysisConfigurations: { canary },
      values: { control: Array.from(control), experiment: Array.from(experiment) },
      ...more,
      ...(exposure === undefined ? {} : { exposure: asArrays(exposure) }),
    })),
    classifier: { groupWeights: weights, scoreThresholds: { pass: 90, marginal: 60 } },
  })
  return judgeMetrics(input, { judge: 'default', ...options })
}
/** Judges one metric. */
export const judgeOne = (metric: Metric, options: Partial<JudgeOptions> = {}): MetricResult =>
  judge([metric], options).results[0]!

export const points = (make: (index: number) => number, count = 60): number[] =>
  Array.from({ length: count }, (_, index) => make(index))

interface SeriesPair extends Metric {
  readonly control: number[]
  readonly experiment: number[]
}

export interface SimulatedSeries {
  readonly normal: () => number
  /** Independent values of a normal distribution. */
  readonly around: (mean: number, deviation?: number, count?: number) => number[]
  /** Values of which each keeps this share of the one before. */
  readonly wander: (mean: number, share: number) => number[]
  readonly SAME: SeriesPair
  readonly WORSE: SeriesPair
}

/** Series from the start of one random sequence: call it once a file, and draw only while tests are collected. */
export function simulatedSeries(): SimulatedSeries {
  const { normal } = makeRandom(1)
  const around = (mean: number, deviation = 10, count = 60): number[] =>
    points(() => mean + deviation * normal(), count)
  const wander = (mean: number, share: number): number[] => {
    let state = normal()
    return points(() => {
      state = share * state + Math.sqrt(1 - share * share) * normal()
      return mean + state
    })
  }
  return {
    normal,
    around,
    wander,
    SAME: { control: around(100), experiment: around(100) },
    WORSE: { control: around(100), experiment: around(150) },
  }
}
