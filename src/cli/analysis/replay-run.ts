import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

import { judgeLook } from '../../analysis/runs/judge-look.js'
import type { LookData } from '../../analysis/runs/look-data.js'
import type { LookReport } from '../../analysis/runs/look-report.js'
import type { RunPlan } from '../../analysis/runs/plan.js'
import { EXIT } from '../exit-code.js'
import type { ExitCode } from '../exit-code.js'
import { makeServiceClient } from '../service-client.js'
import { outJson } from '../shared-options.js'
import type { Terminal } from '../terminal.js'
import { reportText } from './report-text.js'
import type { ReplayOptions } from './run-options.js'

/** The service is of this release: the shapes within are its own. */
const Kept = z.object({
  id: z.number(),
  look: z.number(),
  plan: z.looseObject({}).transform((plan) => plan as unknown as RunPlan),
  report: z.looseObject({}).transform((report) => report as unknown as LookReport),
  data: z.looseObject({}).transform((data) => data as unknown as LookData),
})

/** Judges the data of a look again, and compares: 1 when the same judge gives another report. */
export async function replayRun(id: string, options: ReplayOptions, terminal: Terminal): Promise<ExitCode> {
  const client = await makeServiceClient(options, terminal)
  const path = `/analysis/${encodeURIComponent(id)}/data`
  const kept = await client.ask(Kept, { path, query: { look: options.look } })
  const judge = options.judge ?? kept.plan.judge
  const { report } = judgeLook(kept.plan, kept.data, judge)
  // Through JSON as the stored one: -0 and undefined do not survive it.
  const isIdentical = isDeepStrictEqual(JSON.parse(JSON.stringify(report)), kept.report)
  const isSameJudge = judge === kept.plan.judge
  if (options.format === 'json')
    outJson(terminal, { id: kept.id, look: kept.look, judge, isIdentical, report })
  else terminal.out(replayText(kept, report, judge, isIdentical))
  return isIdentical || !isSameJudge ? EXIT.fine : EXIT.denied
}

function replayText(
  { id, look, report: before }: z.output<typeof Kept>,
  report: LookReport,
  judge: string,
  isIdentical: boolean,
): string {
  const then = `${before.score} ${before.verdict}`
  const outcome = isIdentical ? 'identical' : `was ${then}`
  const head = `analysis ${id}, look ${look}, ${judge} judge: ${report.score} ${report.verdict} (${outcome})\n${report.reason}\n\n`
  return head + reportText(report)
}
