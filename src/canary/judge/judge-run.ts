import { judgeKayenta } from './kayenta/judge-kayenta.js'
import { comparableUnits } from './series/units.js'
import { judgeableSide } from './series/judgeable-side.js'
import { adjustOverRun } from './robust/adjust-over-run.js'
import { assessMetric, classify } from './robust/judge-metric.js'
import { scoreRun } from './robust/score-run.js'
import { makeSettings } from './robust/samples/settings.js'
import type { JudgeInput, JudgeOptions, JudgeReport } from './series/types.js'

const NOTHING_FOUND = { p: 1, familyWise: 1 }

/** Judges the metrics of a run. The same input and options give the same report. */
export function judgeMetrics(input: JudgeInput, options: JudgeOptions): JudgeReport {
  const metrics = input.metrics.map(({ spec, overlap, usualSpread, ...sides }) => {
    const { control, experiment } = comparableUnits(sides)
    return {
      ...{ spec, overlap, usualSpread },
      control: judgeableSide(control, spec),
      experiment: judgeableSide(experiment, spec),
    }
  })
  const judge = options.judge === 'kayenta' ? judgeKayenta : judgeByEvidence
  return judge({ ...input, metrics }, options)
}

/** The default judge: each metric is tested by itself, then all are weighed together (docs/explanation/judge.md). */
function judgeByEvidence(input: JudgeInput, options: JudgeOptions): JudgeReport {
  const settings = makeSettings(options)
  const assessments = input.metrics.map((metric, index) => {
    const assessment = assessMetric(metric, settings)
    options.onMetric?.(index + 1, input.metrics.length)
    return assessment
  })
  const adjusted = adjustOverRun(assessments)
  const results = assessments.map((assessment, index) =>
    classify(assessment, adjusted[index] ?? NOTHING_FOUND, settings),
  )
  return { judgeName: 'tidegate-v1', ...scoreRun(results, input), results }
}
