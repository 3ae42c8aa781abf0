import type { Command } from 'commander'
import { z } from 'zod'

import { localTime } from '../output/local-time.js'
import { textTable } from '../output/text-table.js'
import { endOption } from '../session/list-options.js'
import { printAnswer } from '../session/service-client.js'
import type { ServiceRequest } from '../session/service-client.js'
import type { ServiceOptions } from '../session/service-options.js'
import { EXIT, wrongUse } from '../session/session.js'
import type { Session } from '../session/session.js'
import { examples } from '../session/shared-options.js'

const Delegation = z.looseObject({
  id: z.number(),
  from: z.string(),
  to: z.string(),
  reason: z.string(),
  until: z.string(),
})
type Delegation = z.output<typeof Delegation>
const Delegations = z.object({ delegations: z.array(Delegation) })

interface DelegateOptions extends ServiceOptions {
  readonly to: string
  readonly until: string
  readonly reason?: string
}

/** `tidegate gates delegate`: gives the caller's rights to another person. */
export function defineDelegate(command: Command, session: Session): void {
  command
    .description('Gives your rights as an approver to another person until an end.')
    .requiredOption('--to <name>', 'who gets them')
    .addOption(
      endOption('--until <end>', 'the end: a date, or a duration such as 12h or 14d').makeOptionMandatory(),
    )
    .option('--reason <text>', 'why, for the trail')
    .addHelpText('after', examples('tidegate gates delegate --to bo --until 14d --reason holiday'))
    .action(async (options: DelegateOptions) => {
      const { to, until, reason } = options
      const request = { method: 'POST', path: '/delegations', body: { to, until, reason } } as const
      await report(request, 'given', options, session)
    })
}

/** `tidegate gates delegations`: lists delegations. */
export function defineDelegations(command: Command, session: Session): void {
  command
    .description('Lists the delegations that have not ended.')
    .addHelpText('after', examples('tidegate gates delegations'))
    .action(async (options: ServiceOptions) => {
      const request = { path: '/delegations' }
      await printAnswer(options, { schema: Delegations, request, textOf: delegationTable }, session)
      session.exitCode = EXIT.fine
    })
}

/** `tidegate gates revoke`: ends a delegation. */
export function defineRevoke(command: Command, session: Session): void {
  command
    .description('Revokes a delegation that you gave or got.')
    .argument('<delegation>', 'number from the list')
    .addHelpText('after', examples('tidegate gates revoke 3'))
    .action(async (id: string, options: ServiceOptions) => {
      if (!/^\d+$/.test(id)) throw wrongUse(`a delegation must be a number, not "${id}"`)
      await report({ method: 'DELETE', path: `/delegations/${id}` }, 'revoked', options, session)
    })
}

async function report(
  request: ServiceRequest,
  what: 'given' | 'revoked',
  options: ServiceOptions,
  session: Session,
): Promise<void> {
  const textOf = ({ id, from, to, until }: Delegation): string =>
    `delegation ${id} from ${from} to ${to} until ${localTime(until)}: ${what}\n`
  await printAnswer(options, { schema: Delegation, request, textOf }, session)
  session.exitCode = EXIT.fine
}

function delegationTable({ delegations }: z.output<typeof Delegations>): string {
  if (delegations.length === 0) return 'No delegations.\n'
  const rows = delegations.map(({ id, from, to, until, reason }) => [
    String(id),
    from,
    to,
    localTime(until),
    reason,
  ])
  return textTable([['id', 'from', 'to', 'until', 'reason'], ...rows], [0])
}
