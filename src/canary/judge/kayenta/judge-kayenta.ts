import { toError } from '../../../errors/app-error.js'
import { describeSeries } from '../series/describe-series.js'
import type {
  JudgeInput,
  JudgeOptions,
  JudgeReport,
  MetricResult,
  MetricSeries,
  MetricSpec,
  GroupScore,
} from '../series/types.js'
import { classifyMetric } from './classify-metric.js'
import type { CleanedSides, KayentaClassification, KayentaSettings } from './classify-metric.js'
import { outlierFences } from '../../statistics/quantile.js'
import { ownMember } from '../../../lib/own-member.js'

/**
 * The settings built into Kayenta's judge. Its configuration accepts a tolerance and a confidence
 * level, but the judge ignores them and uses these values.
 */
const DEFAULT_SETTINGS: KayentaSettings = { tolerance: 0.25, confidence: 0.98 }
const VERDICTS = { Pass: 'Success', Marginal: 'Review', Fail: 'Fail' } as const

/**
 * Judges a run as Kayenta's NetflixACAJudge does, its known defects included (analysis.md 1.2 and
 * 1.3).
 */
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

/**
 * Whether a result comes from data. Gaps filled with zeros on both sides, and a side without
 * points, are not data.
 */
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

/** As in Kayenta, any failure becomes `Error` and loses the critical flag. */
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

/**
 * The compared values: gaps are dropped or set to 0, then outliers are dropped if configured
 * (analysis.md 1.2, steps 1 and 2).
 */
function cleanSeries(values: Float64Array, spec: MetricSpec): Float64Array {
  const filled =
    spec.nanStrategy === 'replace'
      ? values.map((value) => (Number.isNaN(value) ? 0 : value))
      : values.filter((value) => !Number.isNaN(value))
  if (spec.outliers.strategy === 'keep' || filled.length === 0) return filled
  const { low, high } = outlierFences(filled.toSorted(), spec.outliers.factor)
  return filled.filter((value) => value >= low && value <= high)
}

/** The scores of a run in Kayenta's words. */
interface KayentaScores {
  readonly score: {
    readonly score: number
    readonly classification: 'Pass' | 'Marginal' | 'Fail'
    readonly classificationReason: string
  }
  readonly groupScores: readonly GroupScore[]
}

const FULL = 100
/** Maximum percentage of metrics without data. Above it the run is not scored. */
const MAX_NODATA_SHARE = 50

/**
 * Group scores and summary as in Kayenta (analysis.md 1.2, Scoring), without muted metrics. The run
 * fails if no metric that counts was compared. Kayenta can give such a run the full score, since
 * gaps become zeros and a group without data counts as full.
 */
function scoreMetrics(
  results: readonly MetricResult[],
  { groupWeights, thresholds }: Pick<JudgeInput, 'groupWeights' | 'thresholds'>,
  isCompared: (result: MetricResult) => boolean,
): KayentaScores {
  const counted = results.filter(({ muted }) => !muted)
  const groupScores = [...new Set(counted.flatMap(({ groups }) => groups))].map((name) =>
    scoreGroup(
      name,
      counted.filter(({ groups }) => groups.includes(name)),
    ),
  )
  const override = overrideOf(counted) ?? nothingCompared(counted, isCompared)
  const score = override === undefined ? summarise(groupScores, groupWeights) : 0
  const classification = override === undefined ? classificationOf(score, thresholds) : 'Fail'
  const classificationReason =
    override ?? (classification === 'Pass' ? '' : `the score of ${score} is below ${thresholds.pass}`)
  return { score: { score, classification, classificationReason }, groupScores }
}

function classificationOf(
  score: number,
  { pass, marginal }: JudgeInput['thresholds'],
): KayentaScores['score']['classification'] {
  if (score >= pass) return 'Pass'
  return score >= marginal ? 'Marginal' : 'Fail'
}

function nothingCompared(
  counted: readonly MetricResult[],
  isCompared: (result: MetricResult) => boolean,
): string | undefined {
  if (counted.some(isCompared)) return undefined
  const named = counted.map(({ name, classification }) => `${name} is ${classification}`).join(', ')
  return `nothing could be compared, since no metric had data: ${named || 'all metrics are muted'}`
}

function scoreGroup(name: string, members: readonly MetricResult[]): GroupScore {
  const count = (wanted: MetricResult['classification']): number =>
    members.filter(({ classification }) => classification === wanted).length
  const judged = count('Pass') + count('High') + count('Low') + count('NodataFailMetric')
  if (judged === 0)
    return { name, score: 0, classification: 'Nodata', classificationReason: 'no metric has data' }
  return { name, score: (FULL * count('Pass')) / judged, classification: '', classificationReason: '' }
}

/** A group without data counts as full. Groups without a weight share the rest of 100. */
function summarise(groups: readonly GroupScore[], weights: Readonly<Record<string, number>>): number {
  const given = groups.map(({ name }) => ownMember(weights, name))
  const unweighted = given.filter((weight) => weight === undefined).length
  const rest = FULL - Object.values(weights).reduce((sum, weight) => sum + weight, 0)
  const sum = groups.reduce((total, { score, classification }, index) => {
    const weight = given[index] ?? rest / unweighted
    return total + (classification === 'Nodata' ? FULL : score) * (weight / FULL)
  }, 0)
  return Math.round(sum * 100) / 100
}

function overrideOf(counted: readonly MetricResult[]): string | undefined {
  const failed = counted.filter(({ critical, classification }) => critical && classification !== 'Pass')
  if (failed.length > 0) {
    return `Canary Failed: ${failed.map(({ name, classification }) => `${name} is ${classification}`).join(', ')}`
  }
  const empty = counted.filter(({ classification }) => classification === 'Nodata').length
  return (empty / counted.length) * FULL >= MAX_NODATA_SHARE
    ? `no data for ${empty} of ${counted.length} metrics`
    : undefined
}
