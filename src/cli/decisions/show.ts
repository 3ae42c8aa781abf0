import type { Command } from 'commander'

import { makeServiceClient } from '../session/service-client.js'
import { addServiceOptions } from '../session/service-options.js'
import type { ServiceOptions } from '../session/service-options.js'
import { EXIT } from '../session/session.js'
import type { Session } from '../session/session.js'
import { examples, outJson } from '../session/shared-options.js'
import { DecisionAnswer } from './list.js'
import { addWatchOption } from '../session/watch.js'

/** `tidegate decisions show ID`: one decision with what it was asked with. */
export function defineDecision(command: Command, session: Session): void {
  addWatchOption(addServiceOptions(command))
    .description('Shows one decision with its input and result, as JSON.')
    .option('--own', 'where several services share a database: only what the service that is asked decided')
    .addHelpText('after', examples('tidegate decisions show 01a1fc8e-f0c0-751d-96e3-cdae4828646a'))
    .action(async (id: string, options: ServiceOptions & { readonly own?: boolean }) => {
      const client = await makeServiceClient(options, session.terminal)
      const path = `/decisions/${encodeURIComponent(id)}`
      outJson(session.terminal, await client.ask(DecisionAnswer, { path, query: { own: options.own } }))
      session.exitCode = EXIT.fine
    })
}
