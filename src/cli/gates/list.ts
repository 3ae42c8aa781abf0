import type { Command } from 'commander'

import { EXIT } from '../session/session.js'
import { textTable } from '../output/text-table.js'
import { makeServiceClient } from '../session/service-client.js'
import type { ServiceOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { outJson } from '../session/shared-options.js'
import { GatesAnswer } from './answers.js'
import type { GateAnswer } from './answers.js'

/** `tidegate gates list`: the gates that are declared. */
export function defineList(command: Command, session: Session): void {
  command
    .description('Lists the approval gates that are declared. What waits for a decision: gates instances.')
    .action(async (options: ServiceOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const answer = await client.ask(GatesAnswer, { path: '/approvalGates' })
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(gateTable(answer.gates))
      session.exitCode = EXIT.fine
    })
}

function gateTable(gates: readonly GateAnswer[]): string {
  if (gates.length === 0) return 'no gates: declare some in gates.definitions, or with gates create\n'
  const rows = gates.map(({ id, name, application = 'any', approvals, policy = '', origin, isEnabled }) => [
    String(id),
    name,
    application,
    String(approvals),
    policy,
    isEnabled ? origin : 'removed',
  ])
  return textTable([['id', 'name', 'application', 'approvals', 'policy', 'declared in'], ...rows], [0, 3])
}
