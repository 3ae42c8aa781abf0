import { percent } from '../../../lib/text/number-text.js'
import { describeSeries } from '../series/describe-series.js'
import type { MetricResult, MetricSeries, MetricSpec } from '../series/types.js'
import { unlikeOthers, widenByUnits } from './between-units.js'
import { burstsOf, isLeaning } from './bursts.js'
import { brokenLimit } from './check-limits.js'
import { cleanSide } from './samples/clean-side.js'
import type { Adjusted, Assessment } from './assessment.js'
import { decide, explaining, warmUpOf } from './decide.js'
import type { Decision } from './decide.js'
import { doubtOf, outageOf } from './doubt.js'
import { farStretchOf } from './far-stretch.js'
import { farPointsOf } from './far-points.js'
import { lateChangeOf } from './late-change.js'
import { findNoData } from './find-no-data.js'
import type { NoData } from './find-no-data.js'
import { LIKELY_OTHER_SCALE, countersOf, notComparable } from './samples/comparable.js'
import { isWithinMargin } from './samples/interval-and-margin.js'
import { kindOfValues } from './samples/kind-of-values.js'
import { mattering, meanRatio, effectivePoints } from './samples/metric-tests.js'
import type { CleanSides, Tested } from './samples/metric-tests.js'
import { naturalBound, testDistance } from './tests/test-distance.js'
import { heldFor, overlapOf, withoutCopies, withoutOverlap } from './samples/overlap.js'
import { passingChanges } from './passing-changes.js'
import type { RobustSettings } from './samples/settings.js'
import { testCounts } from './tests/test-counts.js'
import { testGauge } from './tests/test-gauge.js'
import { testOccurrence } from './tests/test-occurrence.js'
import { totalOf } from './tests/total-events.js'
import { vanishedStart } from './vanished-start.js'

/** Share of the error that may be spent if too few effective points are left. */
const PLAIN_SHARE = 0.05
/** Maximum p-value for a change to be mentioned that too few points show. */
const SEEN = 0.05

/** Tests one metric. */
export function assessMetric(metric: MetricSeries, settings: RobustSettings): Assessment {
  const sides = {
    control: withoutCopies(cleanSide(metric.control, metric.spec)),
    experiment: withoutCopies(cleanSide(metric.experiment, metric.spec)),
  }
  const spec = withHarm(metric.spec, sides)
  const missing = findNoData(metric, sides, settings.minPoints)
  const isCompared = missing === undefined && !isSame(sides)
  const overlap = isCompared ? Math.max(metric.overlap ?? overlapOf(sides), heldFor(sides)) : 1
  const separate = overlap > 1 ? apart(sides, overlap) : sides
  const tooFew = overlapping(separate, overlap, settings)
  const judged = tooFew === undefined ? separate : sides
  const tested = isCompared
    ? possible(
        {
          ...widenByUnits(testMetric(judged, spec, settings, overlap), metric),
          ...(tooFew !== undefined && { effectiveN: lengthsOf(separate) }),
        },
        sides,
      )
    : undefined
  const tooLittle =
    tooFew !== undefined && !isPlain(tested) ? tooFew : tooFewEffectivePoints(tested, sides, spec, settings)
  const outage = outageOf(metric)
  const counters = isCompared && metric.spec.kind !== 'count' ? countersOf(sides) : undefined
  const isCounted = counters !== undefined && (counters.isUnlike || tooLittle !== undefined)
  const asCounters: NoData | undefined = isCounted ? { state: 'doubtful', reason: counters.says } : undefined
  const far =
    missing === undefined ? farPointsOf(spec, sides, settings, tested?.units?.deviation ?? 0) : undefined
  const doubt =
    missing === undefined
      ? (doubtOf(metric, sides, outage, tested, far) ??
        unlikeOthers(metric, settings) ??
        (tested?.units === undefined
          ? (farStretchOf(spec, sides, settings) ?? lateChangeOf(spec, judged, settings))
          : undefined))
      : undefined
  return {
    spec,
    sides,
    // A burst or an outage makes neighbours alike, so it explains more than the autocorrelation
    // does.
    noData:
      missing ?? asCounters ?? (tooLittle && (doubt ?? { ...tooLittle, reason: outage ?? tooLittle.reason })),
    tested,
    limit: brokenLimit(sides.experiment.sorted, spec.limits),
    doubt,
    far,
    outage,
    isOfAnotherTime: tested?.units === undefined && isOfAnotherTime(metric),
    vanished:
      tested === undefined
        ? undefined
        : vanishedStart(judged, spec, tested, (rest) => testMetric(rest, spec, settings, overlap)),
    isTested: missing === undefined,
    p: tested === undefined || (tooLittle ?? asCounters) !== undefined ? 1 : comparableP(tested, settings),
  }
}

/**
 * The metric with its harmful direction. If either direction is harm, a success rate that comes
 * nearer to its bound is still an improvement.
 */
function withHarm(spec: MetricSpec, sides: CleanSides): MetricSpec {
  return spec.direction === 'either' && naturalBound(sides, spec) !== undefined
    ? { ...spec, direction: 'decrease' }
    : spec
}

/** Whether the whole window of the baseline is earlier or later than that of the canary. */
function isOfAnotherTime({ control, experiment }: MetricSeries): boolean {
  if (control.startMs === undefined || experiment.startMs === undefined) return false
  const windowMs = experiment.values.length * (experiment.stepMs ?? 0)
  return windowMs > 0 && Math.abs(experiment.startMs - control.startMs) >= windowMs
}

/** Bounds a relative fall at -100 %, since no value is negative. */
function possible(tested: Tested, { control, experiment }: CleanSides): Tested {
  const { relative } = tested
  if (relative === null || Math.min(control.sorted[0] ?? 0, experiment.sorted[0] ?? 0) < 0) return tested
  const [lower, upper] = relative.interval
  return { ...tested, relative: { ...relative, interval: [Math.max(-1, lower), upper] } }
}

/**
 * The least p-value of a change that matters. Counts have a larger error, so their p-values weigh
 * less (weighted Benjamini-Hochberg, Genovese 2006).
 */
function comparableP({ tests, alpha }: Tested, settings: RobustSettings): number {
  const [surest] = mattering(tests)
  return surest === undefined ? 1 : Math.min(1, (surest.p * settings.alpha) / alpha)
}

/** Classifies a metric, given its p-values among those of all metrics. */
export function classify(assessment: Assessment, adjusted: Adjusted, settings: RobustSettings): MetricResult {
  const { spec, sides, tested } = assessment
  const base = {
    name: spec.name,
    groups: spec.groups,
    muted: spec.muted,
    ...(spec.critical && { isCriticalMetric: true as const }),
    controlStats: describeSeries(sides.control.values),
    experimentStats: describeSeries(sides.experiment.values),
    ratio: meanRatio(sides),
    ...exposureOf(assessment),
    finding:
      tested === undefined
        ? null
        : { ...tested, p: Math.min(1, ...tested.tests.map(({ p }) => p)), pAdjusted: adjusted.p },
  }
  const decision = decide(assessment, adjusted, settings)
  return { ...base, ...decision, ...notesOf(assessment, decision, settings) }
}

/** Empty if there are no notes. */
function notesOf(
  { tested, sides, spec, far }: Assessment,
  { classification }: Decision,
  settings: RobustSettings,
): Pick<MetricResult, 'notes'> {
  if (tested === undefined) {
    return classification === 'Pass' && isOneSeries(sides)
      ? { notes: ['Both sides have the same values at the same times. Check that their queries differ'] }
      : {}
  }
  if (classification !== 'Pass') {
    const isChange = classification === 'High' || classification === 'Low'
    const doubt = isChange ? notComparable({ spec }, sides, LIKELY_OTHER_SCALE) : undefined
    return doubt === undefined ? {} : { notes: [doubt] }
  }
  const seen =
    tested.kind === 'gauge' ? passingChanges(sides, spec, settings) : burstNotes(spec, sides, tested)
  const start = seen.some((note) => note.includes('warmUpMinutes')) ? [] : warmUpOf(tested)
  const notes = [...start, ...seen, ...(far === undefined ? [] : [far.says])]
  return notes.length > 0 ? { notes } : {}
}

function burstNotes(spec: MetricSpec, sides: CleanSides, tested: Tested): string[] {
  const bursts = burstsOf(spec, sides, tested)
  return bursts === undefined ? [] : [bursts.says]
}

/** Left out without an exposure, as in most metrics. */
function exposureOf({ spec, sides: { control, experiment } }: Assessment): Pick<MetricResult, 'exposure'> {
  if (!control.hasExposure || !experiment.hasExposure) return {}
  const totals = { control: totalOf(control).exposure, experiment: totalOf(experiment).exposure }
  return { exposure: { ...(spec.exposure !== undefined && { metric: spec.exposure }), ...totals } }
}

function lengthsOf({ control, experiment }: CleanSides): Tested['effectiveN'] {
  return { control: control.values.length, experiment: experiment.values.length }
}

function apart({ control, experiment }: CleanSides, overlap: number): CleanSides {
  return { control: withoutOverlap(control, overlap), experiment: withoutOverlap(experiment, overlap) }
}

/** Windows that overlap say the same several times: what is left without that may be too little. */
function overlapping(
  { control, experiment }: CleanSides,
  overlap: number,
  { minPoints }: RobustSettings,
): NoData | undefined {
  const [n, m] = [control.values.length, experiment.values.length]
  if (overlap === 1 || Math.min(n, m) >= minPoints) return undefined
  const reason = `Effective samples: ${n} in the baseline, ${m} in the canary, since each value covers ${overlap} points. At least ${minPoints} are needed on each side. Query windows of one step, or a longer time`
  return { state: 'tooFewPoints', reason }
}

/** Points that follow each other closely say less than they are many. */
function tooFewEffectivePoints(
  tested: Tested | undefined,
  sides: CleanSides,
  spec: MetricSpec,
  settings: RobustSettings,
): NoData | undefined {
  if (tested === undefined) return undefined
  const { minPoints } = settings
  const worth = effectivePoints(tested)
  if (isWithinMargin(tested, sides, spec, settings)) return undefined
  // For bursts the confidence interval already shows the uncertainty, and points in the harmless
  // direction do not need a review.
  if (worth >= minPoints || isPlain(tested) || (tested.kind !== 'gauge' && !isLeaning(tested)))
    return undefined
  const surest = explaining(mattering(tested.tests), SEEN)
  const seen = surest === undefined ? '' : surest.p <= SEEN ? `${surest.says}. ` : changeSeen(tested)
  const reason = `${seen}Effective samples: ${Math.max(1, worth).toFixed(1)}, since the values change slowly. At least ${minPoints} are needed on each side`
  return { state: 'tooFewPoints', reason }
}

/** The observed change, for reviewers. */
function changeSeen({ relative, margin }: Tested): string {
  if (relative === null || Math.abs(relative.estimate) <= margin) return ''
  const [lower, upper] = relative.interval
  return `The typical value changed by ${percent(relative.estimate)} of the baseline (confidence interval ${percent(lower)} to ${percent(upper)}). `
}

/** Whether a change is so large that even few points show it. */
function isPlain(tested: Tested | undefined): boolean {
  if (tested === undefined) return false
  const { tests, alpha } = tested
  return mattering(tests).some(({ test, p }) => test === 'gap' || p < alpha * PLAIN_SHARE)
}

function testMetric(sides: CleanSides, spec: MetricSpec, settings: RobustSettings, overlap: number): Tested {
  const bound = naturalBound(sides, spec)
  const tested =
    bound === undefined ? testValues(sides, spec, settings) : testDistance(sides, bound, spec, settings)
  return overlap > 1 ? { ...tested, overlap } : tested
}

function testValues(sides: CleanSides, spec: MetricSpec, settings: RobustSettings): Tested {
  switch (kindOfValues(sides, spec.kind)) {
    case 'gauge':
      return testGauge(sides, spec, settings)
    case 'zeroInflated':
      return testOccurrence(sides, spec, settings)
    case 'count':
      return testCounts(sides, spec, settings)
  }
}

/** Fewer different values may be equal on both sides by chance. */
const MIN_DIFFERENT = 8

/** Whether both sides are one series of measurements, as if one query were used for both. */
function isOneSeries({ control, experiment }: CleanSides): boolean {
  return (
    experiment.values.every((value, index) => value === control.values[index]) &&
    new Set(experiment.values).size >= MIN_DIFFERENT
  )
}

function isSame({ control, experiment }: CleanSides): boolean {
  const [x, y] = [experiment.sorted, control.sorted]
  const isOneValue = x[0] === x.at(-1) && y[0] === y.at(-1) && x[0] === y[0]
  if (isOneValue && !control.hasExposure) return true
  const isEqual = x.length === y.length && x.every((value, index) => value === y[index])
  return isEqual && !control.hasExposure
}
