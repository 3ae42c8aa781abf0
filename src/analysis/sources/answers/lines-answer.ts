import type { LinesAnswer, TimeWindow } from '../../sources.js'
import type { LineCollector } from './line-collector.js'

/** The state after all readable data has been read. */
export interface LinesReading {
  readonly query: string
  readonly window: TimeWindow
  readonly collector: LineCollector
  /** Number of lines that limits left out, if the source reports it. */
  readonly omittedLines?: number | undefined
  /** Why the reading broke off before the end of the window. */
  readonly interruption?: string | undefined
  /** Reasons why data is missing. */
  readonly gaps: readonly string[]
  readonly warnings: readonly string[]
}

/** The answer to a query for lines. */
export function linesAnswer(reading: LinesReading): LinesAnswer {
  const { query, window, collector, interruption, gaps } = reading
  const { lines, isFull } = collector
  const isWhole = !isFull && interruption === undefined
  const coveredUntilMs = isWhole ? window.endMs : lastKnownMs(collector, window)
  const reasons = [...breaks(reading, coveredUntilMs), ...gaps]
  const isFailed = interruption !== undefined && lines.length === 0
  return {
    state: isFailed
      ? 'failed'
      : reasons.length > 0
        ? 'incomplete'
        : lines.length === 0
          ? 'empty'
          : 'complete',
    reasons,
    warnings: [...reading.warnings, ...collector.describeCuts()],
    query,
    lines,
    isTruncated: isFull,
    omittedLines: isFull ? reading.omittedLines : 0,
    coveredUntilMs,
  }
}

function breaks({ collector, interruption, omittedLines }: LinesReading, coveredUntilMs: number): string[] {
  if (interruption !== undefined) {
    return collector.lines.length === 0
      ? [interruption]
      : [`${interruption}; nothing is known after ${new Date(coveredUntilMs).toISOString()}`]
  }
  if (!collector.isFull) return []
  const { maxLines, maxBytes } = collector.limits
  const count = omittedLines === undefined ? 'the lines' : `${omittedLines} lines`
  return [
    `the limit of ${maxLines} lines or ${maxBytes} bytes is reached: ${count} after ${new Date(coveredUntilMs).toISOString()} are left out`,
  ]
}

/** Lines of a file may have no time, so they do not show which part of the window they fill. */
function lastKnownMs({ lines, lastMs }: LineCollector, { startMs, endMs }: TimeWindow): number {
  if (lines.length === 0) return startMs
  return Number.isNaN(lastMs) ? endMs : lastMs
}
