import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'

import { EXIT } from '../session/session.js'
import { textTable } from '../output/text-table.js'
import { makeServiceClient } from '../session/service-client.js'
import type { ServiceOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { examples, outJson } from '../session/shared-options.js'
import { InstanceAnswer } from './answers.js'

interface InstancesOptions extends ServiceOptions {
  readonly status?: string
  readonly gate?: string
  readonly application?: string
  readonly execution?: string
  readonly limit: string
  readonly cursor?: string
}

const STATUSES = ['activated', 'not_activated', 'approved', 'rejected', 'canceled', 'expired']
const Answer = z.object({ instances: z.array(InstanceAnswer), next: z.string().optional() })

/** `tidegate gates instances`: the runs of gates, newest first. */
export function defineInstances(command: Command, session: Session): void {
  command
    .description('Lists the instances of gates, newest first.')
    .addOption(new Option('--status <status>', 'only those that stand so').choices(STATUSES))
    .option('--gate <id>', 'only those of one gate')
    .option('--application <name>', 'only those of one application')
    .option('--execution <id>', 'only those of one execution')
    .option('--limit <count>', 'how many at most', '50')
    .option('--cursor <cursor>', 'go on where the last list ended')
    .addHelpText('after', examples('tidegate gates instances --status activated'))
    .action(async (options: InstancesOptions) => {
      const { status, gate, application, execution, limit, cursor } = options
      const client = await makeServiceClient(options, session.terminal)
      const query = { status, gate, application, execution, limit, cursor }
      const answer = await client.ask(Answer, { path: '/approvalGateInstances', query })
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(listText(answer))
      session.exitCode = EXIT.fine
    })
}

function listText({ instances, next }: z.output<typeof Answer>): string {
  if (instances.length === 0) return 'no instances\n'
  const rows = instances.map(
    ({ id, gateName, application = '', executionId, status, createdAt, comment }) => [
      ...[String(id), gateName, application, executionId, status, createdAt],
      comment.split('\n', 1).join(''),
    ],
  )
  const heads = ['id', 'gate', 'application', 'execution', 'status', 'since', 'comment']
  return `${textTable([heads, ...rows], [0])}${next === undefined ? '' : `more: --cursor ${next}\n`}`
}
