import type { LogExposure, LogSide } from '../model/types.js'
import type { EventGroup } from './side-events.js'

const MINUTE_MS = 60_000
/** Minimum number of ordinary lines for their number to measure the traffic. */
const MIN_ORDINARY = 50

/**
 * The exposure of both sides: requests if both are known, else ordinary lines, which grow with the
 * traffic, else the running time of instances.
 */
export function exposureOf(baseline: LogSide, canary: LogSide, groups: readonly EventGroup[]): LogExposure {
  const { requests: before } = baseline
  const { requests: now } = canary
  if (isPositive(before) && isPositive(now)) return exposure('requests', before, now)
  const lines = commonLines(groups)
  const isEnough = Math.min(lines.baseline, lines.canary) >= MIN_ORDINARY
  if (isEnough) return exposure('ordinaryLines', lines.baseline, lines.canary)
  return exposure('time', instanceMinutes(baseline), instanceMinutes(canary))
}

/**
 * Ordinary lines of the templates that both sides have. The canary's number is the baseline's times
 * the typical growth of a template: lines that only one side logs, or a single template that grew,
 * are not traffic.
 */
function commonLines(groups: readonly EventGroup[]): { readonly baseline: number; readonly canary: number } {
  const common = groups
    .filter(
      ({ severity, baseline, canary }) =>
        severity === 'ordinary' && Math.min(baseline.events, canary.events) > 0,
    )
    .map(({ baseline, canary }) => ({
      before: baseline.events,
      now: canary.events,
      ratio: canary.events / baseline.events,
    }))
    .toSorted((a, b) => a.ratio - b.ratio)
  const baseline = common.reduce((sum, { before }) => sum + before, 0)
  // Templates are weighted by the baseline's lines. Only the middle half of the weight counts, so
  // that a few templates cannot decide.
  const within = common.reduce<{ readonly passed: number; readonly before: number; readonly now: number }>(
    ({ passed, ...sums }, { before, now }) => {
      const [from, to] = [Math.max(passed, baseline / 4), Math.min(passed + before, (3 * baseline) / 4)]
      const share = Math.max(0, to - from) / before
      return { passed: passed + before, before: sums.before + share * before, now: sums.now + share * now }
    },
    { passed: 0, before: 0, now: 0 },
  )
  return { baseline, canary: within.before > 0 ? Math.round((baseline * within.now) / within.before) : 0 }
}

/** The time that instances ran, in minutes. */
export function instanceMinutes({ startMs, endMs, instances = 1 }: LogSide): number {
  return (Math.max(0, endMs - startMs) / MINUTE_MS) * Math.max(1, instances)
}

/** The canary's share of the time that instances of both sides ran. */
export function shareOfTime(baseline: LogSide, canary: LogSide): number {
  const [before, now] = [instanceMinutes(baseline), instanceMinutes(canary)]
  return now > 0 ? now / (before + now) : 1 / 2
}

function exposure(basis: LogExposure['basis'], baseline: number, canary: number): LogExposure {
  const canaryShare = baseline > 0 && canary > 0 ? canary / (baseline + canary) : 0.5
  return { basis, baseline, canary, canaryShare }
}

function isPositive(value: number | undefined): value is number {
  return value !== undefined && value > 0
}
