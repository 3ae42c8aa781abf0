import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

import { judgeInterval } from '../../analysis/runs/intervals/judge-interval.js'
import type { IntervalData } from '../../analysis/runs/intervals/interval-data.js'
import type { IntervalReport } from '../../analysis/runs/intervals/interval-report.js'
import { joinLines } from '../../analysis/runs/intervals/pack-interval.js'
import type { RunPlan } from '../../analysis/runs/definitions/plan.js'
import { AppError } from '../../errors/app-error.js'
import { EXIT } from '../session/session.js'
import type { ExitCode } from '../session/session.js'
import { makeColours } from '../output/colours.js'
import type { Colours } from '../output/colours.js'
import { wrapText } from '../output/wrap-text.js'
import { makeServiceClient } from '../session/service-client.js'
import { outJson } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import { reportText } from './report-text.js'
import type { ReplayOptions } from './run-options.js'

/** Partial schemas: the service has the same release. */
const Run = z.looseObject({ intervalsDone: z.number(), plan: z.looseObject({}) })
const Report = z.looseObject({ score: z.number() }).transform((report) => report as unknown as IntervalReport)
const Data = z.looseObject({ look: z.number() }).transform((data) => data as unknown as IntervalData)
const Lines = z.array(z.unknown()).transform((lines) => lines as Parameters<typeof joinLines>[1])

/** An interval stored by the service. */
interface KeptInterval {
  readonly id: string
  readonly plan: RunPlan
  readonly report: IntervalReport
  readonly data: IntervalData
}

/** Judges the data of an interval again. Returns 1 if the same judge gives a different report. */
export async function replayRun(id: string, options: ReplayOptions, terminal: Terminal): Promise<ExitCode> {
  const kept = await fetchInterval(id, options, terminal)
  const judge = options.judge ?? kept.plan.judge
  const { report } = judgeInterval(kept.plan, kept.data, judge)
  // Through JSON, like the stored report: -0 and undefined are lost.
  const isIdentical = isDeepStrictEqual(JSON.parse(JSON.stringify(report)), kept.report)
  const isSameJudge = judge === kept.plan.judge
  if (options.format === 'json')
    outJson(terminal, { id, interval: report.look, look: report.look, judge, isIdentical, report })
  else terminal.out(replayText(kept, report, judge, isIdentical, makeColours(terminal.hasColours)))
  return isIdentical || !isSameJudge ? EXIT.fine : EXIT.denied
}

async function fetchInterval(id: string, options: ReplayOptions, terminal: Terminal): Promise<KeptInterval> {
  const client = await makeServiceClient(options, terminal)
  const path = `/analysis/${encodeURIComponent(id)}`
  const run = await client.request(Run, { path })
  if (run.intervalsDone === 0)
    throw new AppError('conflict', `analysis ${id} has no finished interval to judge again yet`)
  const interval = options.interval ?? options.look ?? String(run.intervalsDone)
  const [report, data, lines] = await Promise.all([
    client.request(Report, { path: `${path}/intervals/${encodeURIComponent(interval)}` }),
    client.request(Data, { path: `${path}/data`, query: { interval } }),
    client.request(Lines, { path: `${path}/lines`, query: { interval } }),
  ])
  return { id, plan: run.plan as unknown as RunPlan, report, data: joinLines(data, lines) }
}

function replayText(
  { id, report: before }: KeptInterval,
  report: IntervalReport,
  judge: string,
  isIdentical: boolean,
  colours: Colours,
): string {
  const then = `${before.score} ${before.verdict}`
  const outcome = isIdentical ? 'identical' : `was ${then}`
  const head = `analysis ${id}, interval ${report.look}, ${judge} judge: ${report.score} ${report.verdict} (${outcome})\n`
  return `${head}${wrapText(report.reason, '')}\n${reportText(report, colours)}`
}
