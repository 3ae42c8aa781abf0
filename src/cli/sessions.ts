import type { Command } from 'commander'
import { z } from 'zod'

import { localTime } from './output/local-time.js'
import { textTable } from './output/text-table.js'
import { makeServiceClient } from './session/service-client.js'
import { addServiceOptions } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import { EXIT } from './session/session.js'
import type { Session } from './session/session.js'
import { examples, outJson } from './session/shared-options.js'
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
export function defineSessionList(command: Command, session: Session): void {
  addServiceOptions(command)
    .description('Lists your signed-in browsers, for an admin those of everybody.')
    .addHelpText('after', examples('tidegate sessions list'))
    .action(async (options: ServiceOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const answer = await client.request(Sessions, { path: '/sessions' })
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(sessionTable(answer))
      session.exitCode = EXIT.fine
    })
}

/** `tidegate sessions revoke`: ends a session. */
export function defineSessionRevoke(command: Command, session: Session): void {
  addServiceOptions(command)
    .argument('<session>', 'id from the list')
    .description('Ends a session. Its browser must sign in again.')
    .addHelpText('after', examples('tidegate sessions revoke 0f3a91c27be4d650'))
    .action(async (id: string, options: ServiceOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const path = `/sessions/${encodeURIComponent(id)}`
      const ended = await client.request(Listed, { method: 'DELETE', path })
      if (options.format === 'json') outJson(session.terminal, ended)
      else session.terminal.out(`session ${ended.id} of ${ended.name}: revoked\n`)
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
