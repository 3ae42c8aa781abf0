import { readCanaryConfig } from '../../src/canary/judge/canary-config.js'
import { judgeMetrics } from '../../src/canary/judge/judge-run.js'
import type { JudgeInput, JudgeOptions, Side } from '../../src/canary/judge/series/types.js'
import { makeRandom } from './generate-pairs.js'
import type { RunMetric, RunRow } from './generate-runs.js'

const ENDS = { success: 'Success', review: 'Review', failed: 'Fail' } as const

/** The share of a row's runs that show what is counted of them, in per cent. Each interval sees all points up to its end. */
export function simulateRuns(
  { make, intervals, share }: RunRow,
  runs: number,
  seed: number,
  judge: JudgeOptions['judge'] = 'default',
): number {
  const random = makeRandom(seed)
  let counted = 0
  for (let run = 0; run < runs; run += 1) {
    const metrics = make(random)
    const verdicts = Array.from({ length: intervals }, (_, index) => {
      const planned = { interval: index + 1, intervals }
      return judgeMetrics(upTo(metrics, planned.interval / planned.intervals), { judge, interval: planned })
        .verdict
    })
    const last = verdicts.at(-1)
    const isCounted = share === 'ever failed' ? verdicts.includes('Fail') : last === ENDS[share]
    if (isCounted) counted += 1
  }
  return (100 * counted) / runs
}

/** How often the interval of a change holds the true one, in per cent; `perMinute` events of as many requests on both sides. */
export function simulateCoverage(
  { perMinute, factor }: { readonly perMinute: number; readonly factor: number },
  pairs: number,
  seed: number,
): number {
  const random = makeRandom(seed)
  const exposure = new Float64Array(60).fill(1000)
  const counts = (mean: number): Float64Array => exposure.map(() => random.poisson(mean))
  let [held, known] = [0, 0]
  for (let pair = 0; pair < pairs; pair += 1) {
    const metric = { name: 'errors', control: counts(perMinute), experiment: counts(perMinute * factor) }
    const input = upTo([{ ...metric, exposure: { control: exposure, experiment: exposure } }], 1)
    const interval = judgeMetrics(input, { judge: 'default' }).results[0]?.finding?.relative?.interval
    if (interval === undefined) continue
    known += 1
    if (interval[0] <= factor - 1 && factor - 1 <= interval[1]) held += 1
  }
  return (100 * held) / known
}

function upTo(metrics: readonly RunMetric[], share: number): JudgeInput {
  const { metrics: read } = readCanaryConfig({
    metrics: metrics.map(({ name, canary = {} }) => ({
      ...{ name, groups: ['all'], analysisConfigurations: { canary } },
      values: { control: [], experiment: [] },
    })),
  })
  const side = ({ exposure, ...metric }: RunMetric, name: 'control' | 'experiment'): Side => {
    const part = (points: Float64Array): Float64Array => points.subarray(0, Math.floor(points.length * share))
    return { values: part(metric[name]), exposure: exposure && part(exposure[name]) }
  }
  return {
    metrics: metrics.flatMap((metric, index) => {
      const spec = read[index]?.spec
      if (spec === undefined) return []
      return [{ spec, control: side(metric, 'control'), experiment: side(metric, 'experiment') }]
    }),
    groupWeights: {},
    thresholds: { pass: 95, marginal: 75 },
  }
}
