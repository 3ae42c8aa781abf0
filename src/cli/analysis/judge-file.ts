import {
  judgeMetrics,
  readCanaryConfig,
  reportDocument,
  unknownKeys,
  type JudgeInput,
  type PlannedInterval,
  type JudgeReport,
} from '../../canary/index.js'
import { AppError } from '../../errors/app-error.js'
import { EXIT } from '../session/session.js'
import type { ExitCode } from '../session/session.js'
import { makeColours } from '../output/colours.js'
import type { Colours } from '../output/colours.js'
import { Progress } from '../output/progress.js'
import { wrapText } from '../output/wrap-text.js'
import { readDocument, STDIN } from '../input/read-document.js'
import { outJson } from '../session/shared-options.js'
import type { OutputOptions } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import { count, textTable } from '../output/text-table.js'
import { metricTable } from './metric-table.js'
export interface JudgeCommandOptions extends OutputOptions {
  readonly judge: 'default' | 'kayenta'
  readonly tolerance?: number
  readonly confidence?: number
  readonly interval?: PlannedInterval
  readonly look?: PlannedInterval
}

/** Judges a file and prints the report. */
export async function judgeFile(
  file: string,
  options: JudgeCommandOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const progress = new Progress(terminal)
  const { input, warnings } = await progress.during(`reading ${file} …`, readInput(file, terminal))
  const { judge, tolerance, confidence, look, interval = look } = options
  const onMetric = (judged: number, of: number): void => progress.show(`judging … ${judged} of ${of} metrics`)
  const report = judgeMetrics(input, { judge, tolerance, confidence, interval, onMetric })
  progress.end()
  for (const warning of warnings) terminal.err(wrapText(`warning: ${warning}`, ''))
  if (options.format === 'json') outJson(terminal, reportDocument(report, warnings))
  else terminal.out(judgeReportText(report, makeColours(terminal.hasColours)))
  return report.verdict === 'Success' ? EXIT.fine : EXIT.denied
}

interface ReadInput {
  readonly input: JudgeInput
  readonly warnings: readonly string[]
}

async function readInput(file: string, terminal: Terminal): Promise<ReadInput> {
  const text = new TextDecoder().decode(await readDocument(file, terminal))
  try {
    const document: unknown = JSON.parse(text)
    return { input: readCanaryConfig(document), warnings: unknownKeys(document) }
  } catch (raw) {
    if (!(raw instanceof AppError)) throw raw
    const name = file === STDIN ? 'standard input' : file
    throw new AppError(raw.kind, `${name}: ${raw.message}`, {
      code: raw.code,
      details: raw.details,
      cause: raw,
    })
  }
}

/** Returns the text report: metrics with the reasons of failures, groups, and the verdict. */
export function judgeReportText(report: JudgeReport, colours: Colours): string {
  const { score, groupScores, results, verdict } = report
  const groups = groupScores.map((group) => [
    group.name === '' ? '(no group)' : group.name,
    group.classification === 'Nodata' ? '-' : String(group.score),
  ])
  const paint = verdict === 'Success' ? colours.good : colours.bad
  const why = score.classificationReason === '' ? '' : `: ${score.classificationReason}`
  const end = `${score.classification} with ${score.unscored === undefined ? `${score.score} of 100` : `no score (${score.unscored})`} over ${count(results.length, 'metric')}${why}`
  return [
    metricTable(results, colours),
    ...(groups.length === 0 ? [] : [`${colours.strong('GROUPS')}\n${textTable(groups, [1])}`]),
    wrapText(end, '').replace(score.classification, paint),
  ].join('\n')
}
