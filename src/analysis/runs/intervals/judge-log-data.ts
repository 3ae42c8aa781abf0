import {
  judgeLogs,
  logJudgeOptions,
  type JudgedLogs,
  type LogSide,
  type PlannedLook,
  type ScoreThresholds,
} from '../../../canary/index.js'
import type { LinesData, LogData } from './interval-data.js'
import type { PlannedLogs } from '../definitions/plan.js'

/** Judges the lines that an interval fetched, as the template of the log says. */
export function judgeLogData(
  { template }: PlannedLogs,
  { baseline, canary }: LogData,
  thresholds: ScoreThresholds,
  seenTemplates: readonly string[],
  interval: PlannedLook | undefined,
): JudgedLogs {
  const input = {
    baseline: baseline && toSide(baseline),
    canary: toSide(canary),
    seenTemplates,
    thresholds,
  }
  return judgeLogs(input, logJudgeOptions(template, interval))
}

function toSide({ startMs, coveredUntilMs, isTruncated, lines }: LinesData): LogSide {
  return {
    lines: {
      length: lines.length,
      // One after another, since all of them at once take hundreds of megabytes.
      *[Symbol.iterator]() {
        for (const [sinceMs, text] of lines) {
          yield { atMs: sinceMs === null ? Number.NaN : startMs + sinceMs, text }
        }
      },
    },
    startMs,
    endMs: coveredUntilMs,
    isTruncated,
  }
}
