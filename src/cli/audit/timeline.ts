import type { Command } from 'commander'
import { z } from 'zod'

import { localTime } from '../output/local-time.js'
import { textTable } from '../output/text-table.js'
import { makeServiceClient } from '../session/service-client.js'
import { addServiceOptions } from '../session/service-options.js'
import type { ServiceOptions } from '../session/service-options.js'
import { EXIT } from '../session/session.js'
import type { Session } from '../session/session.js'
import { examples, outJson } from '../session/shared-options.js'
import { addWatchOption } from '../session/watch.js'

const Timeline = z.looseObject({
  executionId: z.string(),
  application: z.string().optional(),
  pipeline: z.string().optional(),
  entries: z.array(
    z.looseObject({
      at: z.string(),
      source: z.string(),
      kind: z.string(),
      stage: z.string().optional(),
      user: z.string().optional(),
      status: z.string().optional(),
      path: z.string().optional(),
      auditSeq: z.number().optional(),
      decisionId: z.string().optional(),
    }),
  ),
  isTruncated: z.boolean(),
})
type Timeline = z.output<typeof Timeline>

/** `tidegate audit timeline EXECUTION`: what happened in one execution, from its first event on. */
export function defineTimeline(command: Command, session: Session): void {
  addWatchOption(addServiceOptions(command))
    .description('Shows what happened in an execution, oldest first: events, decisions, approvals, analyses.')
    .addHelpText(
      'after',
      examples('tidegate audit timeline 01J0RUN', 'tidegate audit timeline 01J0RUN --watch'),
    )
    .action(async (execution: string, options: ServiceOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const path = `/executions/${encodeURIComponent(execution)}/timeline`
      const timeline = await client.ask(Timeline, { path })
      if (options.format === 'json') outJson(session.terminal, timeline)
      else session.terminal.out(timelineText(timeline, session.terminal.columns))
      session.exitCode = EXIT.fine
    })
}

function timelineText({ application, pipeline, entries, isTruncated }: Timeline, columns = Infinity): string {
  const head = [application, pipeline].filter((name) => name !== undefined).join(' / ')
  const rows = entries.map(({ at, kind, stage = '', status = '', user = '', path = '', ...rest }) => {
    const proof = rest.auditSeq === undefined ? (rest.decisionId ?? '') : String(rest.auditSeq)
    return [localTime(at), kind, stage, status, user, proof, path]
  })
  const table = textTable(
    [['time', 'what', 'stage', 'status', 'by', 'record', 'policy'], ...rows],
    [],
    columns,
  )
  return `${head === '' ? '' : `${head}\n`}${table}${isTruncated ? 'and more, which is not shown\n' : ''}`
}
