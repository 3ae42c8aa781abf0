import { seededRandom } from '../../src/canary/judge/series/seeded-random.js'
import { judgeLogs, logJudgeOptions } from '../../src/canary/logs/judge-logs.js'
import { readLogTemplate } from '../../src/canary/logs/model/log-template.js'
import type { LogSide } from '../../src/canary/logs/model/types.js'
import type { LogLine } from '../../src/canary/logs/model/types.js'

const MINUTE_MS = 60_000
const MINUTES = 60
const TEMPLATE = readLogTemplate({ templateName: 'simulated' })

/** Two one-hour logs that are judged several times. */
interface Simulated {
  readonly name: string
  /** Number of errors per minute of each kind, on both sides. */
  readonly kinds: number
  readonly perMinute: number
  /** Factor by which the canary logs the first kind more often. */
  readonly factor: number
  /** Whether there is a history, without any of these errors. */
  readonly isNewEver: boolean
  /** Length of a sliding window in minutes. Undefined for a growing one. */
  readonly lookBack?: number
}

const logs = (name: string, kinds: number, anHour: number, more: Partial<Simulated> = {}): Simulated => ({
  ...{ name, kinds, perMinute: anHour / MINUTES, factor: 1, isNewEver: false },
  ...more,
})

export const SIMULATED: readonly Simulated[] = [
  logs('alike, 1 kind, 20 an hour', 1, 20),
  logs('alike, 10 kinds, 20 an hour', 10, 20),
  logs('alike, 10 kinds, 120 an hour', 10, 120),
  logs('alike, 10 kinds, 4 an hour, new ever', 10, 4, { isNewEver: true }),
  logs('alike, 20 kinds, 6 an hour, new ever', 20, 6, { isNewEver: true }),
  logs('alike, 10 kinds, 20 an hour, sliding', 10, 20, { lookBack: 15 }),
  logs('alike, 10 kinds, 6 an hour, new ever, sliding', 10, 6, { isNewEver: true, lookBack: 15 }),
  logs('1 of 5 kinds x3, 20 an hour', 5, 20, { factor: 3 }),
  logs('1 of 5 kinds x3, 60 an hour', 5, 60, { factor: 3 }),
  logs('1 of 5 kinds x5, 10 an hour', 5, 10, { factor: 5 }),
]

/** In how many of the runs something cost points. */
export interface Flagged {
  /** At one interval at least. */
  readonly atAnyInterval: number
  readonly atTheLast: number
}

/**
 * Judges `runs` runs of `intervals` intervals each. The error probability is spent over the
 * intervals, or each interval has all of it, like a single one.
 */
export function simulateIntervals(
  simulated: Simulated,
  {
    runs,
    intervals,
    seed,
    isSpent,
  }: { readonly runs: number; readonly intervals: number; readonly seed: number; readonly isSpent: boolean },
): Flagged {
  const random = seededRandom(seed)
  let [atAnyInterval, atTheLast] = [0, 0]
  for (let run = 0; run < runs; run += 1) {
    const [baseline, canary] = [logOf(simulated, 1, random), logOf(simulated, simulated.factor, random)]
    const flagged = Array.from({ length: intervals }, (_, index) => {
      const planned = { interval: index + 1, intervals }
      const window = windowOf(simulated, planned)
      const input = {
        ...{ baseline: within(baseline, window), canary: within(canary, window) },
        ...{
          seenTemplates: simulated.isNewEver ? ['of long ago'] : [],
          thresholds: { pass: 90, marginal: 70 },
        },
      }
      const { report } = judgeLogs(input, logJudgeOptions(TEMPLATE, isSpent ? planned : undefined))
      return report.findings.some(({ lostPoints }) => lostPoints > 0)
    })
    if (flagged.includes(true)) atAnyInterval += 1
    if (flagged.at(-1) === true) atTheLast += 1
  }
  return { atAnyInterval, atTheLast }
}

interface Minutes {
  readonly from: number
  readonly until: number
}

function windowOf(
  { lookBack = MINUTES }: Simulated,
  { interval, intervals }: { interval: number; intervals: number },
): Minutes {
  const until = (MINUTES * interval) / intervals
  return { from: Math.max(0, until - lookBack), until }
}

function within(lines: readonly LogLine[], { from, until }: Minutes): LogSide {
  const [startMs, endMs] = [from * MINUTE_MS, until * MINUTE_MS]
  return {
    lines: lines.filter(({ atMs }) => atMs >= startMs && atMs < endMs),
    startMs,
    endMs,
    isTruncated: false,
  }
}

/** Independent errors, and an occasional ordinary line so that no side is empty. */
function logOf({ kinds, perMinute }: Simulated, factor: number, random: () => number): LogLine[] {
  const lines: LogLine[] = []
  for (let minute = 0; minute < MINUTES; minute += 5)
    lines.push({ atMs: minute * MINUTE_MS, text: 'INFO alive' })
  for (let kind = 0; kind < kinds; kind += 1) {
    // Lengths differ, so that no two kinds have the same template.
    const text = `ERROR it failed${' again'.repeat(kind)}`
    const rate = perMinute * (kind === 0 ? factor : 1)
    for (let at = wait(rate, random); at < MINUTES; at += wait(rate, random)) {
      lines.push({ atMs: at * MINUTE_MS, text })
    }
  }
  return lines.sort((a, b) => a.atMs - b.atMs)
}

function wait(perMinute: number, random: () => number): number {
  return -Math.log(1 - random()) / perMinute
}
