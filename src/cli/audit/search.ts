import type { Command } from 'commander'
import { z } from 'zod'
import { EXIT } from '../session/session.js'
import { localTime } from '../output/local-time.js'
import { textTable } from '../output/text-table.js'
import { makeServiceClient } from '../session/service-client.js'
import { addServiceOptions } from '../session/service-options.js'
import type { ServiceOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { examples, outJson } from '../session/shared-options.js'
import { addFilterOptions, filterFlags, filterQuery } from './filter-options.js'
import type { FilterOptions } from './filter-options.js'
import { recordLabels } from '../../audit/record-view.js'
import { addPageOptions, moreText } from '../session/list-options.js'
import type { PageOptions } from '../session/list-options.js'
import { tellNearValues } from '../session/near-values.js'
import { addWatchOption } from '../session/watch.js'

/** A record as the service answers with it. */
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

/** `tidegate audit search`: records by column, time and the words in their bodies. */
export function defineSearch(command: Command, session: Session): void {
  addPageOptions(addFilterOptions(addWatchOption(addServiceOptions(command))))
    .description('Searches the trail, newest first. Words are looked for in the bodies: all must be there.')
    .addHelpText(
      'after',
      examples('tidegate audit search --execution 01J0RUN', 'tidegate audit search timeout "prod*"'),
    )
    .action(async (words: readonly string[], options: SearchOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const { limit, cursor } = options
      const q = words.length === 0 ? undefined : words.join(' ')
      const answer = await client.ask(Answer, {
        path: '/audit',
        query: { ...filterQuery(options), q, limit, cursor },
      })
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(recordTable(answer.records, answer.nextCursor))
      // Words are in the bodies, which are not looked through for near ones.
      const found = answer.records.length
      const asked = { path: '/audit', entries: 'records', asked: filterFlags(options), found }
      await tellNearValues(asked, options, client, session.terminal)
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
