import type { LogJudgeInput, LogSide } from '../../src/analysis/logs/model/types.js'
import type { LogTemplate } from '../../src/analysis/logs/model/log-template.js'
import type { LogLine } from '../../src/analysis/sources.js'

export const MINUTE_MS = 60_000
export const MINUTES = 60
export const PER_MINUTE = 10
const THRESHOLDS = { pass: 90, marginal: 70 }

export type Random = () => number

/** Pairs of logs of an hour, and the verdict of which only so large a share of them may have. */
export interface LogRow {
  readonly name: string
  readonly verdict: 'Success' | 'Review' | 'Fail'
  /** Whether the verdict is only the best of those that must not be. */
  readonly orWorse?: boolean
  /** Per cent. */
  readonly limit: number
  readonly template: LogTemplate
  readonly make: (random: Random) => LogJudgeInput
}

export function inputOf(baseline: readonly LogLine[], canary: readonly LogLine[]): LogJudgeInput {
  return { baseline: sideOf(baseline), canary: sideOf(canary), seenTemplates: [], thresholds: THRESHOLDS }
}

function sideOf(lines: readonly LogLine[]): LogSide {
  const sorted = lines.toSorted((a, b) => a.atMs - b.atMs)
  return { lines: sorted, startMs: 0, endMs: MINUTES * MINUTE_MS, isTruncated: false }
}

/** Lines that come independently of each other, so many a minute on average. */
export function events(perMinute: number, text: string, random: Random): LogLine[] {
  return timesOf(perMinute, random).map((atMs) => ({ atMs, text }))
}

/** Milliseconds since the start of the hour. */
export function timesOf(perMinute: number, random: Random): number[] {
  const times: number[] = []
  const wait = (): number => -Math.log(1 - random()) / perMinute
  for (let at = wait(); at < MINUTES; at += wait()) times.push(Math.floor(at * MINUTE_MS))
  return times
}

/** Ordinary lines of three kinds, a Poisson number in each minute, as busy as `load` says. */
export function ordinary(
  random: Random,
  load: (minute: number) => number = () => 1,
  perMinute = PER_MINUTE,
): LogLine[] {
  return timesOf(perMinute, random)
    .filter((atMs) => random() < load(atMs / MINUTE_MS))
    .map((atMs, n) => ({ atMs, text: ordinaryText(n, random) }))
}

function ordinaryText(n: number, random: Random): string {
  const value = Math.floor(random() * 1e6)
  if (n % 3 === 0) return `order ${value} was placed`
  return n % 3 === 1 ? `cache refreshed in ${value} ms` : `request ${value} served`
}
