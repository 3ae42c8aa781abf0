import type { Command } from 'commander'
import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { EXIT } from '../session/session.js'
import { makeServiceClient } from '../session/service-client.js'
import type { ServiceOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { outJson } from '../session/shared-options.js'
import { DetailsAnswer, instancePath } from './answers.js'

const Resent = z.looseObject({ id: z.number(), url: z.string(), state: z.string() })

/** `tidegate gates resend`: tells the receivers of an instance's callbacks once more. */
export function defineResend(command: Command, session: Session): void {
  command
    .description('Sends the callbacks of a closed instance once more, unless they are still being tried.')
    .action(async (id: string, options: ServiceOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const { callbacks } = await client.ask(DetailsAnswer, { path: instancePath(id) })
      const settled = callbacks.filter(({ state }) => state !== 'pending')
      if (settled.length === 0) throw nothingToSend(id, callbacks.length)
      const resent = []
      for (const { id: message } of settled) {
        resent.push(await client.ask(Resent, { method: 'POST', path: `/outbox/${message}/resend` }))
      }
      if (options.format === 'json') outJson(session.terminal, { callbacks: resent })
      else for (const { url, state } of resent) session.terminal.out(`${url}: ${state}\n`)
      session.exitCode = EXIT.fine
    })
}

function nothingToSend(id: string, pending: number): AppError {
  const reason = pending === 0 ? 'it has no callbacks' : 'its callback is still being tried'
  return new AppError('conflict', `there is nothing to send again for instance ${id}: ${reason}`)
}
