import { percent, precisePercent, short } from '../../../lib/text/number-text.js'
import type { MetricSpec, TestOutcome } from '../series/types.js'
import type { Assessment } from './assessment.js'
import { isWithinMargin } from './samples/interval-and-margin.js'
import { kindOfValues } from './samples/kind-of-values.js'
import { farFrom } from './samples/margins.js'
import { harmfulSigns, effectivePoints, meanRatio } from './samples/metric-tests.js'
import type { Tested } from './samples/metric-tests.js'
import type { RobustSettings } from './samples/settings.js'
import { describeTotals } from './tests/describe-totals.js'

const PER_CENT = 100

/** Why a metric passes, as a sentence. */
export function passReason(tested: Tested, assessment: Assessment, settings: RobustSettings): string {
  const { minPoints } = settings
  const { sides, spec } = assessment
  const { relative, detectable, kind, distanceFrom, confidenceInterval } = tested
  const points = effectivePoints(tested)
  const worth =
    points < minPoints ? `. Effective samples: ${points.toFixed(1)}, since the events come in bursts` : ''
  if (distanceFrom === undefined && kindOfValues(sides, spec.kind) === 'count') {
    const word = wordOfPass(tested, spec, worth !== '')
    return `${word}: ${describeTotals(sides, spec)} (${intervalText(tested, assessment)})${worth}`
  }
  if (kind === 'zeroInflated') {
    const [lower, upper] = confidenceInterval
    const sign = lower > 0 ? 1 : upper < 0 ? -1 : 0
    const isHarm =
      sign !== 0 &&
      harmfulSigns(spec.direction).includes(distanceFrom === undefined ? sign : sign > 0 ? -1 : 1)
    const word = isHarm
      ? 'Too little to be sure of a change'
      : sign !== 0
        ? 'No change for the worse'
        : `No change ${worth === '' ? 'that matters' : 'is proven'}`
    return `${word}: the share of points other than ${distanceFrom ?? 0} changed by ${percent(lower)} to ${percent(upper)} of all points${worth}`
  }
  if (relative === null) return `No change that matters (${intervalText(tested, assessment)})`
  // Left out if the interval contains larger changes, which were not found.
  const largest = Math.max(
    Math.abs(relative.estimate),
    ...harmfulSigns(spec.direction).map((sign) => largestChange(tested, sign)),
  )
  const seen =
    detectable === null || largest >= detectable
      ? ''
      : `. Smallest change detected with 80 % power: ${percent(detectable).replace('+', '')}`
  const of = distanceFrom === undefined ? '' : ` of the distance from ${distanceFrom}`
  // Whole numbers of few sizes have the same typical value, and an interval without width.
  if ([relative.estimate, ...relative.interval].every((share) => share === 0))
    return `No change that matters: the typical value is the same${unitsText(tested)}${seen}`
  const isProven = harmless(tested, spec) === undefined && isWithinMargin(tested, sides, spec, settings)
  const proven = isProven ? provenText(tested, spec) : ''
  const ofMean = otherMean(tested, assessment, isProven)
  const word = ofMean !== '' && isProven ? 'The typical value stays' : wordOfPass(tested, spec)
  return `${word}${proven}: ${percent(relative.estimate)}${of} (${intervalText(tested, assessment)})${unitsText(tested)}${isProven ? '' : seen}${ofMean}`
}

/** If one direction is harm, the interval may contain larger changes in the other. */
function provenText({ relative, margin }: Tested, { direction }: MetricSpec): string {
  const least = `${short(PER_CENT * margin)} %`
  const isWithin = (relative?.interval ?? []).every((end) => Math.abs(end) <= margin)
  if (direction === 'either' || isWithin) return `, proven within ${least}`
  return `, proven not to ${direction === 'increase' ? 'rise' : 'fall'} by more than ${least}`
}

/** The change of the mean, if the chart shows one that the typical value does not. */
function otherMean(tested: Tested, { sides, spec: { direction } }: Assessment, isProven: boolean): string {
  const { margin, distanceFrom, relative } = tested
  const change = (meanRatio(sides) ?? 1) - 1
  const isSeen = Math.abs(change) > (isProven ? margin : farFrom(margin, 1))
  if (distanceFrom !== undefined || !isSeen || Math.abs(relative?.estimate ?? 0) > margin) return ''
  const harm = direction === 'increase' ? 'a rise' : 'a fall'
  const isHarmless = direction !== 'either' && (direction === 'increase') === change < 0
  return `. The mean changed by ${percent(change)}${isHarmless ? `, and only ${harm} is harm` : ''}`
}

/** The largest change in a direction of the values that the confidence interval contains. */
function largestChange({ relative, distanceFrom }: Tested, sign: 1 | -1): number {
  const [lower, upper] = relative?.interval ?? [0, 0]
  return (distanceFrom === undefined ? sign : -sign) > 0 ? upper : -lower
}

/** The words of a pass whose change may matter. */
export const UNPROVEN = 'No change is proven'

/** Whether the confidence interval contains harmful changes far past the margin. */
function mayBeFar(tested: Tested, { direction }: MetricSpec): boolean {
  const largest = Math.max(...harmfulSigns(direction).map((sign) => largestChange(tested, sign)))
  return largest >= farFrom(tested.margin, 1)
}

/**
 * The verdict in words. If either direction is harm, falls have little of the error: a change that
 * the interval excludes need not be found.
 */
function wordOfPass(tested: Tested, spec: MetricSpec, isLittle = false): string {
  const { isAbove, isBelow } = beyondMargin(tested)
  const isBeyond = isAbove || isBelow
  const isSeen = isAboveMargin(tested, spec)
  return (
    harmless(tested, spec) ??
    (isBeyond
      ? 'Too little to be sure of a change'
      : isSeen || isLittle || mayBeFar(tested, spec)
        ? UNPROVEN
        : 'No change that matters')
  )
}

/** Whether the change is in a harmful direction. */
function isAboveMargin(
  { relative, estimate, margin, distanceFrom }: Tested,
  { direction }: MetricSpec,
): boolean {
  const change = relative?.estimate ?? estimate
  const isTurned = distanceFrom !== undefined
  return harmfulSigns(direction).some(
    (sign) => (isTurned ? -sign : sign) * change > (relative === null ? 0 : margin),
  )
}

/** A change in the harmless direction, in words. */
function harmless(tested: Tested, { direction }: MetricSpec): string | undefined {
  const { isAbove, isBelow } = beyondMargin(tested)
  const isNear = tested.distanceFrom !== undefined
  const [isHigher, isLower] = isNear ? [isBelow, isAbove] : [isAbove, isBelow]
  if (direction === 'increase' && isLower) return 'Lower, and only a rise is harm'
  return direction === 'decrease' && isHigher ? 'Higher, and only a fall is harm' : undefined
}

/** Whether the whole interval of the change lies beyond the margin. */
function beyondMargin({ relative, margin, confidenceInterval }: Tested): {
  readonly isAbove: boolean
  readonly isBelow: boolean
} {
  // Without a level, the change itself has the direction.
  const [lower, upper] = relative?.interval ?? confidenceInterval
  const least = relative === null ? 0 : margin
  return { isAbove: lower > least, isBelow: upper < -least }
}

/** The confidence interval of a change in words. */
export function intervalText(
  { relative, kind, confidenceInterval: [lower, upper] }: Tested,
  { sides }: Pick<Assessment, 'sides'>,
  found?: TestOutcome,
): string {
  if (kind === 'zeroInflated')
    return `confidence interval of the share's change ${percent(lower)} to ${percent(upper)} of the points`
  if (relative === null && kind === 'count') {
    const least = found?.change === 'High' ? Math.max(0, lower) : lower
    return sides.control.hasExposure
      ? `confidence interval of the rate's change ${short(PER_CENT * least)} to ${short(PER_CENT * upper)} %`
      : `confidence interval of the rate's change ${short(least)} to ${short(upper)} per point`
  }
  if (relative === null) return `confidence interval ${short(lower)} to ${short(upper)}`
  return `confidence interval ${percent(relative.interval[0])} to ${percent(relative.interval[1])}`
}

/** How far units, or former runs, lie apart without any change. */
export function unitsText({ units, level }: Tested): string {
  if (units === undefined || level <= 0) return ''
  const usual = precisePercent(units.deviation / level)
  if ('areTimes' in units && units.areTimes === true)
    return `. The ${units.control} times of the baseline differ by ${usual}`
  return 'runs' in units
    ? `. In ${units.runs} former runs both sides differed by ${usual}`
    : `. ${units.experiment} units of the canary and ${units.control} of the baseline were compared; units of a side differ by ${usual}`
}
