import { z } from 'zod'

import type { Precision } from '../../analysis/runs/feedback.js'
import { precisePercent } from '../../lib/text/number-text.js'
import { count, textTable } from '../output/text-table.js'
import { EXIT } from '../session/session.js'
import type { ExitCode } from '../session/session.js'
import { printAnswer } from '../session/service-client.js'
import type { ServiceOptions } from '../session/service-options.js'
import type { Terminal } from '../session/terminal.js'
import type { FeedbackOptions } from './run-options.js'

/** Judgements as they are written on the command line, with their name in the API. */
export const JUDGEMENT_WORDS = { right: 'right', 'false-alarm': 'falseAlarm', missed: 'missed' } as const
export type JudgementWord = keyof typeof JUDGEMENT_WORDS

const Judged = z.looseObject({
  id: z.number(),
  application: z.string(),
  feedback: z.looseObject({ metrics: z.array(z.string()) }),
})
/** Partial schema: the service has the same release. */
const Counted = z
  .looseObject({ metrics: z.array(z.looseObject({})) })
  .transform((value) => value as unknown as Precision)

/** Stores a judgement about the verdict of an analysis. */
export async function giveFeedback(
  id: string,
  word: JudgementWord,
  { metric, comment, ...options }: FeedbackOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const request = {
    method: 'POST',
    path: `/analysis/${encodeURIComponent(id)}/feedback`,
    body: { judgement: JUDGEMENT_WORDS[word], metrics: metric, comment },
  } as const
  const textOf = ({ id: run, application, feedback: { metrics } }: z.output<typeof Judged>): string => {
    const about = metrics.length === 0 ? '' : ` (${metrics.join(', ')})`
    return `analysis ${run} of ${application}: judged as ${word}${about}\n`
  }
  await printAnswer(options, { schema: Judged, request, textOf }, { terminal })
  return EXIT.fine
}

/** Prints how often the alarms of each metric were right. */
export async function showPrecision(
  application: string,
  options: ServiceOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const request = { path: `/analysis/applications/${encodeURIComponent(application)}/feedback` }
  await printAnswer(options, { schema: Counted, request, textOf: precisionText }, { terminal })
  return EXIT.fine
}

function precisionText({ application, right, falseAlarms, missed, metrics }: Precision): string {
  if (right + falseAlarms + missed === 0)
    return `no judgements about analyses of ${application}; add one with tidegate analysis feedback ID right\n`
  const rows = metrics.map(({ metric, precision, ...counts }) => [
    metric,
    String(counts.right),
    String(counts.falseAlarms),
    String(counts.missed),
    precision === null ? '–' : precisePercent(precision),
  ])
  const head = `${application}: ${right} right, ${count(falseAlarms, 'false alarm')}, ${missed} missed\n`
  return `${head}\n${textTable([['METRIC', 'RIGHT', 'FALSE ALARMS', 'MISSED', 'PRECISION'], ...rows], [1, 2, 3, 4])}`
}
