import type { Command } from 'commander'

import { EXIT } from '../session/session.js'
import { wrongUse } from '../session/session.js'
import { makeServiceClient } from '../session/service-client.js'
import { addServiceOptions } from '../session/service-options.js'
import type { ServiceOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { examples, outJson } from '../session/shared-options.js'
import { RecordAnswer } from './search.js'
import { addWatchOption } from '../session/watch.js'

/** `tidegate audit show SEQ`: one record with its body. */
export function defineShow(command: Command, session: Session): void {
  addWatchOption(addServiceOptions(command))
    .description('Shows one record of the trail with its body, as JSON.')
    .addHelpText('after', examples('tidegate audit show 17'))
    .action(async (seq: string, options: ServiceOptions) => {
      if (!/^\d+$/.test(seq)) throw wrongUse(`${seq} is not the number of a record`)
      const client = await makeServiceClient(options, session.terminal)
      outJson(session.terminal, await client.ask(RecordAnswer, { path: `/audit/${seq}` }))
      session.exitCode = EXIT.fine
    })
}
