import { normalUpperTail } from '../../../src/canary/statistics/normal.js'
import { rankShift } from '../../../src/canary/statistics/rank-sum-tail.js'
import { readMetricSpecs } from '../../../src/canary/judge/canary-config.js'
import { judgeMetrics } from '../../../src/canary/judge/judge-run.js'
import type { JudgeOptions } from '../../../src/canary/judge/series/types.js'
import { makeRandom } from '../generate-pairs.js'
import { casesOf } from './cases.js'
import type { RecordedPair } from './cases.js'
import type { Kinds } from './generate.js'
import { generateSeries } from './generate.js'
import { HELD_OUT_KINDS } from './held-out.js'
import { loadSeries } from './load.js'

type Verdict = 'Success' | 'Review' | 'Fail'
type Judge = (pair: RecordedPair) => Verdict

export const SERIES_COLUMNS =
  'pairs | verdict | of | Tidegate % | Kayenta % | Mann-Whitney % | 10 % rule % | limit'

/** Made-up series by the value of the flag. */
const KINDS_OF: Readonly<Record<string, Kinds>> = { heldout: HELD_OUT_KINDS }

const STEP_MS = 60_000
const DAY_MS = 86_400_000
const ERROR = 0.02
const RULE = 0.1

const JUDGES: readonly Judge[] = [byJudge('default'), byJudge('kayenta'), byMannWhitney, byRule]

/**
 * Judges recorded series as pairs: the share of the verdict that each row counts. Series of a
 * folder, or made-up ones without a folder. `report` gets each verdict of this project's judge.
 */
export function compareSeries(
  directory: string,
  seed: number,
  row: (...cells: (string | number | undefined)[]) => void,
  report?: (name: string, pair: RecordedPair, verdict: Verdict) => void,
): void {
  const series =
    directory === '' || directory in KINDS_OF
      ? generateSeries(seed, KINDS_OF[directory])
      : loadSeries(directory)
  for (const { name, counted, limit, pairs } of casesOf(series, makeRandom(seed))) {
    const counts = JUDGES.map((judge, index) => {
      const verdicts = pairs.map((pair) => {
        const verdict = judge(pair)
        if (index === 0) report?.(name, pair, verdict)
        return verdict
      })
      return verdicts.filter((verdict) => verdict === counted).length
    })
    const shares = counts.map((count) => (pairs.length > 0 ? (100 * count) / pairs.length : undefined))
    row(name, counted, pairs.length, ...shares, `<= ${limit}`)
  }
}

function byJudge(judge: JudgeOptions['judge']): Judge {
  return ({ control, experiment, isOfAnotherTime, times }) => {
    const clock = { startMs: isOfAnotherTime ? DAY_MS : 0, stepMs: STEP_MS }
    const earlier = times === undefined ? {} : { units: times, areTimes: true as const }
    const [spec] = readMetricSpecs({ metrics: [{ name: 'metric', groups: ['all'] }] })
    if (spec === undefined) throw new Error('a config of one metric has one metric')
    const { results } = judgeMetrics(
      {
        metrics: [
          {
            spec,
            control: { values: control, startMs: 0, stepMs: STEP_MS, ...earlier },
            experiment: { values: experiment, ...clock },
          },
        ],
        groupWeights: {},
        thresholds: { pass: 95, marginal: 75 },
      },
      { judge },
    )
    const classification = results[0]?.classification ?? 'Error'
    if (classification === 'Pass') return 'Success'
    return (classification === 'High' || classification === 'Low') && results[0]?.noData === null
      ? 'Fail'
      : 'Review'
  }
}

function byMannWhitney({ control, experiment }: RecordedPair): Verdict {
  const { above, below } = rankShift(experiment.toSorted(), control.toSorted())
  return normalUpperTail(Math.max(above, below)) <= ERROR / 2 ? 'Fail' : 'Success'
}

/** Any change of the mean by more than a tenth fails. */
function byRule({ control, experiment }: RecordedPair): Verdict {
  const mean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.abs(mean(experiment) - mean(control)) > RULE * Math.abs(mean(control)) ? 'Fail' : 'Success'
}
