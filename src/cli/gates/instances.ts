import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'

import { EXIT } from '../session/session.js'
import { textTable } from '../output/text-table.js'
import { makeServiceClient } from '../session/service-client.js'
import type { ServiceOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { examples, outJson } from '../session/shared-options.js'
import { localTime } from '../output/local-time.js'
import { addPageOptions, addRangeOptions, moreText } from '../session/list-options.js'
import type { PageOptions, RangeOptions } from '../session/list-options.js'
import { scopeFlags, tellNearValues } from '../session/near-values.js'
import { InstanceAnswer } from './answers.js'
import { findGate } from './find-gate.js'

interface InstancesOptions extends ServiceOptions, PageOptions, RangeOptions {
  readonly status?: string
  readonly gate?: string
  readonly application?: string
  readonly execution?: string
  readonly search?: string
  readonly order?: string
}

const STATUSES = ['activated', 'not_activated', 'approved', 'rejected', 'canceled', 'expired']
const Answer = z.object({
  instances: z.array(InstanceAnswer),
  total: z.number(),
  nextCursor: z.string().optional(),
})

/** `tidegate gates instances`: the runs of gates, newest first or by their deadlines. */
export function defineInstances(command: Command, session: Session): void {
  addPageOptions(addRangeOptions(command))
    .description(
      'Lists the instances of gates, newest first or, with --order deadline, those that expire first.',
    )
    .addOption(new Option('--status <status>', 'only those that stand so').choices(STATUSES))
    .option('--gate <gate>', 'only those of one gate, by its number or name')
    .option('--application <name>', 'only those of one application')
    .option('--execution <id>', 'only those of one execution')
    .option(
      '--search <text>',
      'only those whose gate, application, execution or triggerer has this text in its name',
    )
    .addOption(
      new Option('--order <order>', 'deadline: with --status activated, those that expire first').choices([
        'newest',
        'deadline',
      ]),
    )
    .addHelpText('after', examples('tidegate gates instances --status activated --order deadline'))
    .action(async (options: InstancesOptions) => {
      const { status, application, execution, search, order, since, until, limit, cursor } = options
      const client = await makeServiceClient(options, session.terminal)
      const gate = options.gate === undefined ? undefined : await findGate(client, options.gate)
      const filter = { status, gate, application, executionId: execution, search, since, until }
      const query = { ...filter, order, limit, cursor }
      const answer = await client.ask(Answer, { path: '/approvalGateInstances', query })
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(listText(answer))
      const list = { path: '/approvalGateInstances', entries: 'instances', found: answer.instances.length }
      await tellNearValues({ ...list, asked: scopeFlags(options) }, options, client, session.terminal)
      session.exitCode = EXIT.fine
    })
}

function listText({ instances, total, nextCursor }: z.output<typeof Answer>): string {
  if (instances.length === 0) return 'no instances\n'
  const rows = instances.map(({ id, gateName, application = '', executionId, status, ...times }) => {
    const { createdAt, expiresAt, decidedAt, comment, policyProblem = '' } = times
    return [
      ...[String(id), gateName, application, executionId, status, localTime(createdAt)],
      ...[
        decidedAt === undefined ? localTime(expiresAt) : '',
        (comment || policyProblem).split('\n', 1).join(''),
      ],
    ]
  })
  const heads = ['id', 'gate', 'application', 'execution', 'status', 'since', 'expires', 'comment']
  const counted = instances.length < total ? `${instances.length} of ${total}\n` : ''
  return `${textTable([heads, ...rows], [0])}${counted}${moreText(nextCursor)}`
}
