import { basename, dirname, resolve } from 'node:path'

import type { LinesAnswer } from '../../analysis/sources.js'
import type { FileSettings } from '../../analysis/sources/answers/source-settings.js'
import { readFileLines } from '../../analysis/sources/files/read-file-lines.js'
import { DEFAULT_THRESHOLDS, judgeLogs, logJudgeOptions, readLogTemplate } from '../../canary/index.js'
import type { LogSide } from '../../canary/index.js'
import { AppError } from '../../errors/app-error.js'
import { unreadableFile } from '../input/read-document.js'
import { makeColours } from '../output/colours.js'
import { Progress } from '../output/progress.js'
import { wrapText } from '../output/wrap-text.js'
import { EXIT } from '../session/session.js'
import type { ExitCode } from '../session/session.js'
import { outJson } from '../session/shared-options.js'
import type { OutputOptions } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import { logText } from './report-text.js'

const MINUTE_MS = 60_000
/** Exposure of a log without times, the same on both sides. */
const TIMELESS_MS = 60 * MINUTE_MS
const LIMITS = { maxLines: 2_000_000, maxBytes: 512 * 1024 * 1024 }
const BUDGET = { budgetMs: 600_000 }
/** All times. */
const WINDOW = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER }

/**
 * Judges the log of a canary against the log of its baseline and prints the findings. Raises
 * `invalid` if a file cannot be read.
 */
export async function judgeLogFiles(
  [baseline, canary]: readonly [baseline: string, canary: string],
  { format }: OutputOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const progress = new Progress(terminal)
  const [before, now] = [
    await progress.during(`reading ${baseline} …`, readSide(baseline, terminal)),
    await progress.during(`reading ${canary} …`, readSide(canary, terminal)),
  ]
  progress.end()
  const until = sharedEnd(before, now)
  const { report } = judgeLogs(
    {
      baseline: { ...before, ...until },
      canary: { ...now, ...until },
      seenTemplates: [],
      thresholds: DEFAULT_THRESHOLDS,
    },
    logJudgeOptions(readLogTemplate({ templateName: 'two files' })),
  )
  for (const warning of report.warnings) terminal.err(wrapText(`warning: ${warning}`, ''))
  if (format === 'json') outJson(terminal, report)
  else terminal.out(logText(report, makeColours(terminal.hasColours)))
  return report.verdict === 'Success' ? EXIT.fine : EXIT.denied
}

/** The end of both windows if the files are of the same time, so that a log that stops is silent. */
function sharedEnd(one: LogSide, other: LogSide): Partial<LogSide> {
  const isSameTime = one.startMs < other.endMs && other.startMs < one.endMs
  return isSameTime ? { endMs: Math.max(one.endMs, other.endMs) } : {}
}

async function readSide(file: string, terminal: Terminal): Promise<LogSide> {
  const path = resolve(file)
  const settings: FileSettings = {
    ...{
      type: 'file',
      name: file,
      directory: dirname(path),
      timeField: '@timestamp',
      messageField: 'message',
    },
    ...{ ...LIMITS, maxFileBytes: LIMITS.maxBytes, maxPoints: 0 },
  }
  const query = { ...WINDOW, query: basename(path), scope: {} }
  try {
    const answer = await readFileLines(query, BUDGET, settings, Date.now)
    for (const note of answer.reasons) terminal.err(wrapText(`warning: ${note}`, ''))
    return sideOf(answer)
  } catch (raw) {
    if (raw instanceof AppError) throw raw
    throw unreadableFile(file, raw)
  }
}

/** The window of a side alone is from its first line to the minute after its last one. */
function sideOf({ lines, isTruncated }: LinesAnswer): LogSide {
  let [first, last] = [Infinity, -Infinity]
  const read = [...lines].map(([sinceMs, text]) => {
    const atMs = sinceMs ?? Number.NaN
    if (atMs < first) first = atMs
    if (atMs > last) last = atMs
    return { atMs, text }
  })
  const isTimed = first <= last
  return {
    lines: read,
    startMs: isTimed ? first : 0,
    endMs: isTimed ? last + MINUTE_MS : TIMELESS_MS,
    isTruncated,
  }
}
