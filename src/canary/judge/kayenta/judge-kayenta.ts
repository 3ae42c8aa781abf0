import { toError } from '../../../errors/app-error.js'
import { describeSeries } from '../series/describe-series.js'
import type {
  JudgeInput,
  JudgeOptions,
  JudgeReport,
  MetricResult,
  MetricSeries,
  MetricSpec,
} from '../series/types.js'
import { classifyMetric } from './classify-metric.js'
import type { CleanedSides, KayentaClassification, KayentaSettings } from './classify-metric.js'
import { scoreMetrics } from './score-metrics.js'
import { outlierFences } from '../../statistics/quantile.js'

/** What the judge has built in: its configuration knows such settings and never reads them. */
const DEFAULT_SETTINGS: KayentaSettings = { tolerance: 0.25, confidence: 0.98 }
const VERDICTS = { Pass: 'Success', Marginal: 'Review', Fail: 'Fail' } as const

/** Judges a run as Kayenta's NetflixACAJudge does, its known defects included (analysis.md 1.2 and 1.3). */
export function judgeKayenta(input: JudgeInput, options: JudgeOptions): JudgeReport {
  const settings = {
    tolerance: options.tolerance ?? DEFAULT_SETTINGS.tolerance,
    confidence: options.confidence ?? DEFAULT_SETTINGS.confidence,
  }
  const results = input.metrics.map((metric, index) => {
    const result = judgeMetric(metric, settings)
    options.onMetric?.(index + 1, input.metrics.length)
    return result
  })
  const compared = new Set(results.filter((result, index) => isCompared(result, input.metrics[index])))
  const scored = scoreMetrics(results, input, (result) => compared.has(result))
  return {
    judgeName: 'NetflixACAJudge-v1.0',
    ...scored,
    verdict: VERDICTS[scored.score.classification],
    endsRun: false,
    results,
  }
}

/** Whether a result comes from data: gaps that are made zeros on both sides alike are none, nor is a side without any points. */
function isCompared({ classification }: MetricResult, series: MetricSeries | undefined): boolean {
  if (classification !== 'Pass') return classification !== 'Nodata' && classification !== 'Error'
  if (series === undefined) return false
  const sides = [series.control.values, series.experiment.values]
  return (
    sides.every(({ length }) => length > 0) &&
    sides.some((values) => values.some((value) => !Number.isNaN(value)))
  )
}

function judgeMetric({ spec, control, experiment }: MetricSeries, settings: KayentaSettings): MetricResult {
  const sides: CleanedSides = {
    control: cleanSeries(control.values, spec),
    experiment: cleanSeries(experiment.values, spec),
  }
  const outOfRange = experiment.outOfRange ?? control.outOfRange
  const judged =
    outOfRange === undefined ? classifyOrError(sides, spec, settings) : unjudgeable(outOfRange, spec)
  return {
    name: spec.name,
    groups: spec.groups,
    classification: judged.classification,
    classificationReason: judged.reason,
    critical: judged.critical,
    muted: spec.muted,
    score: scoreOf(judged.classification),
    noData: null,
    controlStats: describeSeries(sides.control),
    experimentStats: describeSeries(sides.experiment),
    ratio: Number.isFinite(judged.ratio) ? judged.ratio : null,
    finding: null,
  }
}

/** Unlike `Error`, which scores nothing and so lets a run pass, this fails the metric. */
function unjudgeable(reason: string, { critical }: MetricSeries['spec']): KayentaClassification {
  return { classification: 'NodataFailMetric', reason, critical, ratio: Number.NaN }
}

/** Any failure becomes `Error` and loses the critical flag, as there. */
function classifyOrError(
  sides: CleanedSides,
  spec: MetricSeries['spec'],
  settings: KayentaSettings,
): KayentaClassification {
  try {
    return classifyMetric(sides, spec, settings)
  } catch (raw) {
    return { classification: 'Error', reason: toError(raw).message, critical: false, ratio: Number.NaN }
  }
}

function scoreOf(classification: MetricResult['classification']): number | null {
  if (classification === 'Nodata' || classification === 'Error') return null
  return classification === 'Pass' ? 100 : 0
}

/** The values that are compared: gaps left out or made 0, then outliers left out if asked (analysis.md 1.2, steps 1, 2). */
function cleanSeries(values: Float64Array, spec: MetricSpec): Float64Array {
  const filled =
    spec.nanStrategy === 'replace'
      ? values.map((value) => (Number.isNaN(value) ? 0 : value))
      : values.filter((value) => !Number.isNaN(value))
  if (spec.outliers.strategy === 'keep' || filled.length === 0) return filled
  const { low, high } = outlierFences(filled.toSorted(), spec.outliers.factor)
  return filled.filter((value) => value >= low && value <= high)
}
