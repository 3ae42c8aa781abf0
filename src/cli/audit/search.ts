import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'

import { EXIT } from '../session/session.js'
import type { Session } from '../session/session.js'
import { localTime } from '../output/local-time.js'
import { textTable } from '../output/text-table.js'
import { makeServiceClient } from '../session/service-client.js'
import { addServiceOptions } from '../session/service-options.js'
import type { ServiceOptions } from '../session/service-options.js'
import { examples, outJson } from '../session/shared-options.js'
import { recordLabels } from '../../audit/record-view.js'
import { addPageOptions, moreText, addRangeOptions } from '../session/list-options.js'
import type { PageOptions, RangeOptions } from '../session/list-options.js'
import { suggestValues } from '../session/suggest-values.js'
import type { FilterValue } from '../session/suggest-values.js'
import { addWatchOption } from '../session/watch.js'
import { AUDIT_SOURCES } from '../../store/ports/audit-store.js'

/** A record in responses. */
export const RecordAnswer = z.looseObject({
  seq: z.number(),
  at: z.string(),
  source: z.string(),
  kind: z.string(),
  ...recordLabels,
})
export type RecordAnswer = z.output<typeof RecordAnswer>

interface SearchOptions extends ServiceOptions, FilterOptions, PageOptions {}

const Answer = z.object({ records: z.array(RecordAnswer), nextCursor: z.string().optional() })

/** `tidegate audit search`: searches records by column, time and text. */
export function defineSearch(command: Command, session: Session): void {
  addPageOptions(addFilterOptions(addWatchOption(addServiceOptions(command))))
    .description('Searches the trail, newest first. Bodies must contain all words.')
    .addHelpText(
      'after',
      examples('tidegate audit search --execution 01J0RUN', 'tidegate audit search timeout "prod*"'),
    )
    .action(async (words: readonly string[], options: SearchOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const { limit, cursor } = options
      const q = words.length === 0 ? undefined : words.join(' ')
      const answer = await client.request(Answer, {
        path: '/audit',
        query: { ...filterQuery(options), q, limit, cursor },
      })
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(recordTable(answer.records, answer.nextCursor))
      // Suggestions cover columns only, not words in bodies.
      const found = answer.records.length
      const queried = { path: '/audit', entries: 'records', filters: filterFlags(options), found }
      await suggestValues(queried, options, client, session.terminal)
      session.exitCode = EXIT.fine
    })
}

function recordTable(records: readonly RecordAnswer[], nextCursor: string | undefined): string {
  const rows = records.map(({ seq, at, kind, application = '', pipeline = '', user = '', status = '' }) => [
    String(seq),
    ...[localTime(at), kind, application, pipeline, user, status],
  ])
  const heads = ['record', 'time', 'kind', 'application', 'pipeline', 'user', 'status']
  const table = records.length === 0 ? 'no records\n' : textTable([heads, ...rows], [0])
  return table + moreText(nextCursor)
}

/** Flags that select records. */
export interface FilterOptions extends RangeOptions {
  readonly source?: string
  readonly kind?: string
  readonly application?: string
  readonly pipeline?: string
  readonly execution?: string
  readonly stage?: string
  readonly user?: string
  readonly status?: string
  readonly event?: string
}

/** Adds the flags that select records. */
export function addFilterOptions(command: Command): Command {
  return addRangeOptions(command)
    .addOption(new Option('--source <source>', 'only records of this source').choices(AUDIT_SOURCES))
    .option('--kind <kind>', 'kind of record, such as gate.approved or orca:pipeline:failed')
    .option('--application <name>', 'only this application')
    .option('--pipeline <name>', 'only this pipeline')
    .option('--execution <id>', 'only this execution')
    .option('--stage <name>', 'only this stage')
    .option('--user <name>', 'only actions of this person')
    .option('--status <status>', 'only this status, such as SUCCEEDED, TERMINAL or approved')
    .option('--event <id>', 'only the record of this event')
}

/** Returns the query parameters for the flags. */
export function filterQuery(options: FilterOptions): Record<string, string | undefined> {
  const { source, kind, application, pipeline, execution, stage, user, status, event, since, until } = options
  return {
    ...{ source, kind, application, pipeline, stage, user, status },
    executionId: execution,
    eventId: event,
    ...{ since, until },
  }
}

/** Returns the record members that the flags filter. */
function filterFlags(options: FilterOptions): readonly FilterValue[] {
  const { kind, application, pipeline, execution, stage, user, status } = options
  const members = { kind, application, pipeline, stage, user, status }
  const own = Object.entries(members).map(([member, value]) => ({ flag: `--${member}`, value, member }))
  return [...own, { flag: '--execution', value: execution, member: 'executionId' }]
}

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

/** `tidegate audit timeline EXECUTION`: shows the timeline of an execution. */
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
      const timeline = await client.request(Timeline, { path })
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
  return `${head === '' ? '' : `${head}\n`}${table}${isTruncated ? 'further entries are not shown\n' : ''}`
}
