import { describeSeries } from '../series/describe-series.js'
import type { MetricResult, MetricSeries, MetricSpec, TestOutcome } from '../series/types.js'
import { brokenLimit } from './check-limits.js'
import type { BrokenLimit } from './check-limits.js'
import { cleanSide } from './samples/clean-side.js'
import { describeTotals } from './tests/describe-totals.js'
import { doubtOf } from './doubt.js'
import { findNoData, policyOf } from './find-no-data.js'
import type { NoData } from './find-no-data.js'
import { kindOfValues } from './samples/kind-of-values.js'
import { mattering, percent } from './samples/metric-tests.js'
import type { CleanSides, Tested } from './samples/metric-tests.js'
import { outageOf } from './outage.js'
import type { Outage } from './outage.js'
import { passingChanges } from './passing-changes.js'
import { scoreChange } from './score-change.js'
import type { RobustSettings } from './samples/settings.js'
import { testCounts } from './tests/test-counts.js'
import { testGauge } from './tests/test-gauge.js'
import { testOccurrence } from './tests/test-occurrence.js'
import { totalOf } from './tests/total-events.js'

/** Where points are worth too few to be trusted, only so small a share of the error may be made. */
const PLAIN_SHARE = 0.05

/** A metric as far as it can be judged without the others. */
export interface Assessment {
  readonly spec: MetricSpec
  readonly sides: CleanSides
  readonly noData: NoData | undefined
  readonly tested: Tested | undefined
  readonly limit: BrokenLimit | undefined
  /** Why the metric does not pass where no test found a change. */
  readonly doubt: NoData | undefined
  /** A stretch in which the canary's values were 0: what a change that was found then means. */
  readonly outage: Outage | undefined
  /** Whether the metric had points that could be compared. */
  readonly isTested: boolean
  /** What to compare over all metrics: 1 when no test found a change that matters. */
  readonly p: number
}

/** Tests one metric. */
export function assessMetric(metric: MetricSeries, settings: RobustSettings): Assessment {
  const { spec } = metric
  const sides = { control: cleanSide(metric.control, spec), experiment: cleanSide(metric.experiment, spec) }
  const noData = findNoData(metric, sides, settings.minPoints)
  const tested = noData === undefined && !isSame(sides) ? testMetric(sides, spec, settings) : undefined
  const tooLittle = worthTooLittle(tested, settings)
  const doubt = noData === undefined ? doubtOf(metric, sides) : undefined
  const outage = outageOf(metric)
  return {
    spec,
    sides,
    // A burst or an outage makes neighbours alike: it says more than that they are.
    noData: noData ?? (tooLittle && (doubt ?? because(outage, tooLittle))),
    tested,
    limit: brokenLimit(sides.experiment.sorted, spec.limits),
    doubt,
    outage,
    isTested: noData === undefined,
    p: tested === undefined || tooLittle !== undefined ? 1 : comparableP(tested, settings),
  }
}

function because(outage: Outage | undefined, { state, reason }: NoData): NoData {
  return { state, reason: outage?.reason ?? reason }
}

/** The least p of a change that matters. Counts may err more, so theirs weighs less (weighted Benjamini-Hochberg, Genovese 2006). */
function comparableP({ tests, alpha }: Tested, settings: RobustSettings): number {
  const [surest] = mattering(tests)
  return surest === undefined ? 1 : Math.min(1, (surest.p * settings.alpha) / alpha)
}

/** Classifies a metric, given its p-value among those of all metrics. */
export function classify(assessment: Assessment, pAdjusted: number, settings: RobustSettings): MetricResult {
  const { spec, sides, tested } = assessment
  const base = {
    name: spec.name,
    groups: spec.groups,
    muted: spec.muted,
    controlStats: describeSeries(sides.control.values),
    experimentStats: describeSeries(sides.experiment.values),
    ratio: meanRatio(sides),
    ...exposureOf(assessment),
    finding:
      tested === undefined
        ? null
        : { ...tested, p: Math.min(1, ...tested.tests.map(({ p }) => p)), pAdjusted },
  }
  const decision = decide(assessment, pAdjusted, settings)
  return { ...base, ...decision, ...notesOf(assessment, decision, settings) }
}

/** Left out where there is none, as in most metrics. */
function notesOf(
  { tested, sides, spec }: Assessment,
  { classification }: Decision,
  settings: RobustSettings,
): Pick<MetricResult, 'notes'> {
  if (classification !== 'Pass' || tested?.kind !== 'gauge') return {}
  const notes = passingChanges(sides, spec, settings)
  return notes.length > 0 ? { notes } : {}
}

/** Left out where nothing is counted out of anything, as most metrics are. */
function exposureOf({ spec, sides: { control, experiment } }: Assessment): Pick<MetricResult, 'exposure'> {
  if (!control.hasExposure || !experiment.hasExposure) return {}
  const totals = { control: totalOf(control).exposure, experiment: totalOf(experiment).exposure }
  return { exposure: { ...(spec.exposure !== undefined && { metric: spec.exposure }), ...totals } }
}

type Decision = Pick<
  MetricResult,
  'classification' | 'classificationReason' | 'critical' | 'score' | 'noData'
>

function decide(assessment: Assessment, pAdjusted: number, settings: RobustSettings): Decision {
  const { spec, limit, noData, tested } = assessment
  if (limit !== undefined) {
    const { change, reason } = limit
    return {
      classification: change,
      classificationReason: reason,
      critical: spec.critical,
      score: 0,
      noData: null,
    }
  }
  if (noData !== undefined) return withoutData(noData, spec)
  if (tested === undefined) return unchanged('both sides have the same values', assessment)
  const found = mattering(tested.tests)[0]
  if (found === undefined || found.p > tested.alpha)
    return unchanged(passReason(tested, assessment), assessment)
  if (pAdjusted > settings.discoveryRate) {
    return unchanged(
      `${found.says}, but so much is expected of one in so many metrics (adjusted p ${short(pAdjusted)})`,
      assessment,
    )
  }
  return changed(found, assessment, tested)
}

function changed(found: TestOutcome, { spec, sides, outage }: Assessment, tested: Tested): Decision {
  const cause = outage === undefined ? '' : `${outage.reason}; `
  return {
    classification: found.change,
    classificationReason: `${cause}${found.says}${intervalText(tested)} (p ${short(found.p)})`,
    critical: spec.critical && isCritical(found, spec, tested, meanRatio(sides)),
    score: scoreChange(found, tested, spec),
    noData: null,
  }
}

/** A critical metric may have a change of its own from which on it is critical; above it, an ordinary change. */
function isCritical(
  { change }: TestOutcome,
  { effectSize }: MetricSpec,
  { relative }: Tested,
  ratio: number | null,
): boolean {
  if (effectSize.measure === 'cles' || relative === null) return true
  const typical = 1 + relative.estimate
  return change === 'High'
    ? Math.max(typical, ratio ?? typical) >= effectSize.criticalIncrease
    : Math.min(typical, ratio ?? typical) <= effectSize.criticalDecrease
}

function withoutData({ state, reason }: NoData, spec: MetricSpec): Decision {
  const policy = policyOf(state, spec)
  const classification =
    state === 'sourceError' || state === 'outOfRange'
      ? 'Error'
      : state === 'tooFewPoints'
        ? 'Inconclusive'
        : 'Nodata'
  return {
    classification,
    classificationReason: reason,
    critical: spec.critical && policy === 'fail',
    score: policy === 'fail' ? 0 : null,
    noData: { state, policy },
  }
}

function unchanged(classificationReason: string, { doubt, spec }: Assessment): Decision {
  if (doubt !== undefined) return withoutData(doubt, spec)
  return { classification: 'Pass', classificationReason, critical: false, score: 100, noData: null }
}

function passReason(tested: Tested, { sides, spec }: Assessment): string {
  const { relative, detectable, kind } = tested
  if (kindOfValues(sides, spec.kind) === 'count') {
    return `no change that matters: ${describeTotals(sides, spec)}${intervalText(tested)}`
  }
  if (relative === null || kind === 'zeroInflated') return `no change that matters${intervalText(tested)}`
  const seen =
    detectable === null
      ? ''
      : `; a change of ${percent(detectable).replace('+', '')} would be found in 8 of 10 runs`
  return `no change that matters: ${percent(relative.estimate)}${intervalText(tested)}${seen}`
}

function intervalText({ relative, kind, confidenceInterval: [lower, upper] }: Tested): string {
  if (kind === 'zeroInflated')
    return `, the share changed by ${percent(lower)} to ${percent(upper)} of the points`
  if (relative === null) return `, between ${short(lower)} and ${short(upper)}`
  return `, between ${percent(relative.interval[0])} and ${percent(relative.interval[1])}`
}

/** Points that follow each other closely say less than they are many. */
function worthTooLittle(tested: Tested | undefined, { minPoints }: RobustSettings): NoData | undefined {
  if (tested === undefined) return undefined
  const { control, experiment } = tested.effectiveN
  const worth = Math.min(control, experiment)
  if (worth >= minPoints || isPlain(tested)) return undefined
  const reason = `the values move so slowly that the points are worth ${worth.toFixed(1)} independent ones: at least ${minPoints} on each side are needed`
  return { state: 'tooFewPoints', reason }
}

/** Whether a change is so large that even few points show it. */
function isPlain({ tests, alpha }: Tested): boolean {
  return mattering(tests).some(({ test, p }) => test === 'gap' || p < alpha * PLAIN_SHARE)
}

function testMetric(sides: CleanSides, spec: MetricSpec, settings: RobustSettings): Tested {
  switch (kindOfValues(sides, spec.kind)) {
    case 'gauge':
      return testGauge(sides, spec, settings)
    case 'zeroInflated':
      return testOccurrence(sides, spec, settings)
    case 'count':
      return testCounts(sides, spec, settings)
  }
}

function isSame({ control, experiment }: CleanSides): boolean {
  const [x, y] = [experiment.sorted, control.sorted]
  const isOneValue = x[0] === x.at(-1) && y[0] === y.at(-1) && x[0] === y[0]
  if (isOneValue && !control.hasExposure) return true
  const isEqual = x.length === y.length && x.every((value, index) => value === y[index])
  return isEqual && !control.hasExposure
}

function meanRatio({ control, experiment }: CleanSides): number | null {
  const ratio = describeSeries(experiment.values).mean / describeSeries(control.values).mean
  return Number.isFinite(ratio) ? ratio : null
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)))
}
