import type { LogExposure, LogSide } from '../model/types.js'
import type { EventGroup } from './count-events.js'

const MINUTE_MS = 60_000
/** With fewer ordinary lines their number says little about the traffic. */
const LEAST_ORDINARY = 50

/**
 * What the events of both sides are compared by: requests when both are known, else ordinary lines, which grow with the
 * traffic, else the time that instances ran.
 */
export function exposureOf(baseline: LogSide, canary: LogSide, groups: readonly EventGroup[]): LogExposure {
  const { requests: before } = baseline
  const { requests: now } = canary
  if (isPositive(before) && isPositive(now)) return exposure('requests', before, now)
  const ordinary = groups.filter(({ severity }) => severity === 'ordinary')
  const lines = {
    baseline: ordinary.reduce((sum, group) => sum + group.baseline.events, 0),
    canary: ordinary.reduce((sum, group) => sum + group.canary.events, 0),
  }
  const isEnough = Math.min(lines.baseline, lines.canary) >= LEAST_ORDINARY
  if (isEnough) return exposure('ordinaryLines', lines.baseline, lines.canary)
  return exposure('time', instanceMinutes(baseline), instanceMinutes(canary))
}

/** The time that instances ran, in minutes. */
export function instanceMinutes({ startMs, endMs, instances = 1 }: LogSide): number {
  return (Math.max(0, endMs - startMs) / MINUTE_MS) * Math.max(1, instances)
}

function exposure(basis: LogExposure['basis'], baseline: number, canary: number): LogExposure {
  const canaryShare = baseline > 0 && canary > 0 ? canary / (baseline + canary) : 0.5
  return { basis, baseline, canary, canaryShare }
}

function isPositive(value: number | undefined): value is number {
  return value !== undefined && value > 0
}
