import { chance, percent } from '../../../lib/text/number-text.js'
import type { MetricResult, MetricSpec, TestOutcome } from '../series/types.js'
import type { Adjusted, Assessment } from './assessment.js'
import { policyOf } from './find-no-data.js'
import type { NoData } from './find-no-data.js'
import { intervalText, passReason, unitsText } from './pass-reason.js'
import { isBeyondMargin } from './samples/interval-and-margin.js'
import { farFrom, marginsOf } from './samples/margins.js'
import { mattering, meanRatio, effectivePoints } from './samples/metric-tests.js'
import type { Tested } from './samples/metric-tests.js'
import { ERROR_SHARES } from './samples/settings.js'
import type { RobustSettings } from './samples/settings.js'
import { scoreChange } from './score-change.js'

/**
 * Maximum chance of a stretch in a metric without a change for it to need a review, even if it
 * is not proven.
 */
const VISIBLE = 0.01

/**
 * Tests of the quantity that the confidence interval describes. The interval does not describe
 * stretches or spreads.
 */
const OF_THE_INTERVAL: readonly TestOutcome['test'][] = ['shift', 'gap', 'rate', 'occurrence']

/** Why a change against one other time is not proven until it is far past its margin. */
const OTHER_TIME = 'The baseline is of another time, which may differ as much without any change'

export type Decision = Pick<
  MetricResult,
  'classification' | 'classificationReason' | 'critical' | 'score' | 'noData' | 'isBeyondDoubt'
>

/** The result of a metric, given its p-values among those of all metrics. */
export function decide(assessment: Assessment, adjusted: Adjusted, settings: RobustSettings): Decision {
  const { spec, limit, noData, tested } = assessment
  if (limit !== undefined) {
    const { change, reason } = limit
    return {
      classification: change,
      classificationReason: reason,
      critical: spec.critical,
      score: 0,
      noData: null,
      isBeyondDoubt: true,
    }
  }
  if (noData !== undefined) return withoutData(noData, spec)
  if (tested === undefined) return unchanged('Both sides have the same values', assessment)
  const found = explaining(mattering(tested.tests), tested.alpha)
  if (found !== undefined && found.p <= tested.alpha && adjusted.p <= settings.discoveryRate) {
    if (assessment.vanished !== undefined) return withoutData(assessment.vanished, spec)
    return changed(found, assessment, tested, adjusted, settings)
  }
  const undecided = found && notDecided(found, tested, adjusted, settings)
  if (undecided !== undefined) return withoutData(undecided, spec)
  const visible =
    visibleStretch(tested, settings) ??
    unprovenChange(tested, assessment, settings) ??
    unprovenFall(tested, assessment)
  if (visible !== undefined && assessment.doubt === undefined) return withoutData(visible, spec)
  const reason =
    found === undefined || found.p > tested.alpha
      ? passReason(tested, assessment, settings)
      : `${found.says}, which is expected by chance among this number of metrics (adjusted ${chance(adjusted.p)})`
  return unchanged(reason, assessment)
}

/**
 * The surest test. If the spread or the mean is surest because the level changed, the test of the
 * level explains it.
 */
export function explaining(found: readonly TestOutcome[], alpha: number): TestOutcome | undefined {
  const [surest] = found
  if (surest?.test !== 'spread' && surest?.test !== 'mean') return surest
  return found.find(({ test, p }) => p <= alpha && OF_THE_INTERVAL.includes(test)) ?? surest
}

/**
 * A change that would count at the last interval is neither a change nor a success yet: the rest of
 * the error is still to be spent.
 */
function notDecided(
  found: TestOutcome,
  { alpha }: Tested,
  adjusted: Adjusted,
  { later, countAlpha }: RobustSettings,
): NoData | undefined {
  if (later === undefined) return undefined
  const whole = alpha === countAlpha ? later.countAlpha : later.alpha
  if (found.p > whole || adjusted.p > later.discoveryRate) return undefined
  return {
    state: 'undecided',
    reason: `Not decided at this interval. ${found.says} (p ${Number(found.p.toPrecision(2))}; the limit is ${Number(alpha.toPrecision(2))} at this interval and higher at the last one)`,
  }
}

function visibleStretch(tested: Tested, { minPoints }: RobustSettings): NoData | undefined {
  // In a metric with long bursts, one more burst is not a change.
  if (tested.kind === 'count' && effectivePoints(tested) < minPoints) return undefined
  const seen = tested.tests.find(({ matters, pAlone = 1 }) => matters && pAlone <= VISIBLE)
  if (seen === undefined) return undefined
  return {
    state: 'doubtful',
    reason: `No test of the whole window found a change. ${seen.says} (${chance(seen.pAlone ?? 1)}). Check this stretch`,
  }
}

/** Notes on a start that differs as clearly as a stretch that needs a review. */
export function warmUpOf({ tests }: Tested): string[] {
  return tests
    .filter(({ isWarmUp, pAlone = 1 }) => isWarmUp === true && pAlone <= VISIBLE)
    .map(({ says }) => says)
}

/**
 * A change whose whole confidence interval is harmful, although its test did not find it: few
 * independent points, or two units on each side, prove almost nothing about a fall, however clear
 * it is.
 */
function unprovenChange(
  tested: Tested,
  assessment: Assessment,
  settings: RobustSettings,
): NoData | undefined {
  const { spec } = assessment
  const { units, relative, kind, margin } = tested
  if (relative === null || !isBeyondMargin(tested, spec, settings)) return undefined
  if (units !== undefined && 'runs' in units) return undefined
  // The interval of a count is narrower than its tests, which also consider bursts.
  const isFarAway = Math.abs(relative.estimate) >= farFrom(margin, 1)
  if (units === undefined ? kind !== 'gauge' : !isFarAway) return undefined
  const by = `${percent(relative.estimate)} (${intervalText(tested, assessment)})`
  const few =
    units === undefined
      ? `Effective samples: ${effectivePoints(tested).toFixed(1)}, which are too few to prove it`
      : `${units.experiment} units of the canary and ${units.control} of the baseline are too few to prove it`
  return { state: 'doubtful', reason: `The typical value changed by ${by}. ${few}. Check the change` }
}

/**
 * A fall far past the margin that the whole error of the metric would prove. If either direction is
 * harm, falls have a small part of it.
 */
function unprovenFall(tested: Tested, assessment: Assessment): NoData | undefined {
  const { direction } = assessment.spec
  const { relative, distanceFrom, kind, alpha, margin, tests } = tested
  if (direction !== 'either' || kind !== 'gauge' || distanceFrom !== undefined || relative === null)
    return undefined
  const share = ERROR_SHARES[direction].shiftLow
  const fall = tests.find(({ test, change }) => test === 'shift' && change === 'Low')
  if (fall?.matters !== true || fall.p * share > alpha || -relative.estimate < farFrom(margin, 1))
    return undefined
  return {
    state: 'doubtful',
    reason: `${fall.says} (${intervalText(tested, assessment)}), which the small part of the error for falls does not prove. Check the change, or set direction to decrease`,
  }
}

function changed(
  found: TestOutcome,
  assessment: Assessment,
  tested: Tested,
  { familyWise }: Adjusted,
  settings: RobustSettings,
): Decision {
  const { spec, sides, outage } = assessment
  const cause = outage === undefined ? '' : `${outage}. `
  const interval = OF_THE_INTERVAL.includes(found.test)
    ? { text: `${intervalText(tested, assessment, found)}, `, units: unitsText(tested) }
    : { text: '', units: '' }
  const reason = `${cause}${found.says} (${interval.text}${chance(found.p)})${interval.units}`
  if (assessment.isOfAnotherTime && !isFar(found, tested, spec, settings)) {
    const advice = 'Check the change, or set baselineTimes to compare several times'
    return withoutData({ state: 'doubtful', reason: `${reason}. ${OTHER_TIME}. ${advice}` }, spec)
  }
  // Counts have a larger error than other metrics. A change found only within that larger error
  // needs a review and does not fail the run.
  if (found.p > settings.alpha) {
    return {
      classification: found.change,
      classificationReason: `${reason}. This is too little to fail the run. Check the change`,
      critical: false,
      score: null,
      noData: { state: 'doubtful', policy: policyOf('doubtful', spec) },
    }
  }
  return {
    classification: found.change,
    classificationReason: reason,
    critical: spec.critical && isCritical(found, spec, tested, meanRatio(sides)),
    score: scoreChange(found, tested, spec),
    noData: null,
    ...(familyWise <= settings.alpha && isFar(found, tested, spec, settings) && { isBeyondDoubt: true }),
  }
}

function isFar(
  { size }: TestOutcome,
  { margin }: Tested,
  spec: MetricSpec,
  settings: RobustSettings,
): boolean {
  const { increase, decrease } = marginsOf(spec, settings)
  return size === null || size >= farFrom(Math.max(margin, Math.min(increase, decrease)), 1)
}

/**
 * A critical metric may define its own change from which it is critical. A smaller change is an
 * ordinary one.
 */
function isCritical(
  { change }: TestOutcome,
  { effectSize }: MetricSpec,
  { relative, distanceFrom }: Tested,
  ratio: number | null,
): boolean {
  if (effectSize.measure === 'cles' || relative === null) return true
  // Near a bound the estimate is one of the distance from the bound.
  const typical = distanceFrom === undefined ? 1 + relative.estimate : (ratio ?? 1)
  return change === 'High'
    ? Math.max(typical, ratio ?? typical) >= effectSize.criticalIncrease
    : Math.min(typical, ratio ?? typical) <= effectSize.criticalDecrease
}

function withoutData({ state, reason }: NoData, spec: MetricSpec): Decision {
  const policy = policyOf(state, spec)
  return {
    classification: CLASSIFICATIONS[state],
    classificationReason: reason,
    critical: spec.critical && policy === 'fail',
    score: policy === 'fail' ? 0 : null,
    noData: { state, policy },
  }
}

const CLASSIFICATIONS: Readonly<Record<NoData['state'], MetricResult['classification']>> = {
  sourceError: 'Error',
  outOfRange: 'Error',
  empty: 'Nodata',
  oneSideEmpty: 'Nodata',
  noTraffic: 'Nodata',
  tooFewPoints: 'Inconclusive',
  undecided: 'Inconclusive',
  doubtful: 'Inconclusive',
}

function unchanged(classificationReason: string, { doubt, spec }: Assessment): Decision {
  if (doubt !== undefined) return withoutData(doubt, spec)
  return { classification: 'Pass', classificationReason, critical: false, score: 100, noData: null }
}
