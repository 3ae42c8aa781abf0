import type { Command } from 'commander'
import { z } from 'zod'

import { localTime } from './output/local-time.js'
import { textTable } from './output/text-table.js'
import { printAnswer } from './session/service-client.js'
import { addServiceOptions } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import { EXIT } from './session/session.js'
import type { Session } from './session/session.js'
import { examples } from './session/shared-options.js'
import { addWatchOption } from './session/watch.js'

const Listed = z.looseObject({
  id: z.string(),
  name: z.string(),
  signedInAt: z.string(),
  usedAt: z.string(),
})
const Sessions = z.object({ sessions: z.array(Listed) })

/** `tidegate sessions`: browsers that are signed in at a service. */
export function defineSessions(command: Command, session: Session): void {
  command
    .description('Lists and ends the sessions of browsers at a running service.')
    .addHelpText('after', examples('tidegate sessions list', 'tidegate sessions revoke 0f3a91c27be4d650'))
  defineSessionList(addWatchOption(command.command('list')), session)
  defineSessionRevoke(command.command('revoke'), session)
}

/** `tidegate sessions list`: lists sessions. */
function defineSessionList(command: Command, session: Session): void {
  addServiceOptions(command)
    .description('Lists your signed-in browsers, for an admin those of everybody.')
    .addHelpText('after', examples('tidegate sessions list'))
    .action(async (options: ServiceOptions) => {
      const request = { path: '/sessions' }
      await printAnswer(options, { schema: Sessions, request, textOf: sessionTable }, session)
      session.exitCode = EXIT.fine
    })
}

/** `tidegate sessions revoke`: ends a session. */
function defineSessionRevoke(command: Command, session: Session): void {
  addServiceOptions(command)
    .argument('<session>', 'id from the list')
    .description('Ends a session. Its browser must sign in again.')
    .addHelpText('after', examples('tidegate sessions revoke 0f3a91c27be4d650'))
    .action(async (id: string, options: ServiceOptions) => {
      const request = { method: 'DELETE', path: `/sessions/${encodeURIComponent(id)}` } as const
      const textOf = (ended: z.output<typeof Listed>): string =>
        `session ${ended.id} of ${ended.name}: revoked\n`
      await printAnswer(options, { schema: Listed, request, textOf }, session)
      session.exitCode = EXIT.fine
    })
}

function sessionTable({ sessions }: z.output<typeof Sessions>): string {
  if (sessions.length === 0) return 'No browser is signed in.\n'
  const rows = sessions.map(({ id, name, signedInAt, usedAt }) => [
    ...[id, name, localTime(signedInAt), localTime(usedAt)],
  ])
  return textTable([['id', 'name', 'signed in', 'last used'], ...rows])
}
