import type { LogJudgeInput, LogJudgeOptions, LogSide } from '../../../src/canary/logs/model/types.js'
import { judgeLogs, logJudgeOptions } from '../../../src/canary/logs/judge-logs.js'
import { readLogTemplate } from '../../../src/canary/logs/model/log-template.js'
import type { JudgedLogs } from '../../../src/canary/logs/model/types.js'

const MINUTE_MS = 60_000
const WINDOW_MINUTES = 30

/** A text and its number of lines, spread evenly over the window or within one minute of it. */
export interface Repeated {
  readonly text: string
  readonly times: number
  readonly inMinute?: number
}

/** Half an hour of one instance. `{n}` in texts is replaced by a number. */
export function logSide(entries: readonly Repeated[], more: Partial<LogSide> = {}): LogSide {
  const lines = entries.flatMap(({ text, times, inMinute }) =>
    Array.from({ length: times }, (_, n) => ({
      atMs:
        inMinute === undefined
          ? ((n + 0.5) / times) * WINDOW_MINUTES * MINUTE_MS
          : inMinute * MINUTE_MS + (n % MINUTE_MS),
      text: text.replaceAll('{n}', String(n)),
    })),
  )
  const ordered = lines.toSorted((a, b) => a.atMs - b.atMs)
  return { lines: ordered, startMs: 0, endMs: WINDOW_MINUTES * MINUTE_MS, isTruncated: false, ...more }
}

/** Judges with the settings of an empty template, unless overridden. */
export function judge(
  baseline: LogSide | undefined,
  canary: LogSide,
  options: Partial<LogJudgeOptions> & Pick<Partial<LogJudgeInput>, 'seenTemplates' | 'thresholds'> = {},
): JudgedLogs {
  const { seenTemplates = [], thresholds = { pass: 90, marginal: 70 }, ...others } = options
  const defaults = logJudgeOptions(readLogTemplate({ templateName: 'test' }))
  return judgeLogs({ baseline, canary, seenTemplates, thresholds }, { ...defaults, ...others })
}
