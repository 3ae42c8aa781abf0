import type { Command } from 'commander'

import { defineCreate } from './gates/create.js'
import { defineInstances } from './gates/instances.js'
import { defineList } from './gates/list.js'
import { defineResend } from './gates/resend.js'
import { defineReview } from './gates/review.js'
import { defineShow } from './gates/show.js'
import { defineTrigger } from './gates/trigger.js'
import type { Session } from './session/session.js'
import { examples } from './session/shared-options.js'
import { addServiceOptions } from './session/service-options.js'
import { addWatchOption } from './session/watch.js'

/** `tidegate gates`: the commands about approval gates, each a request to a running service. */
export function defineGates(command: Command, session: Session): void {
  command
    .description('Sees and decides the approval gates of a running service.')
    .addHelpText(
      'after',
      examples(
        'tidegate gates list',
        'tidegate gates show 17',
        'tidegate gates approve 17 --comment "looks good"',
      ),
    )
  // What the program set for this command, its subcommands take over.
  const add = (usage: string): Command => addServiceOptions(command.command(usage))
  const withInstance = (of: Command): Command =>
    of.argument('<instance>', 'its number, as gates instances lists it')
  const addShowing = (usage: string): Command => addWatchOption(add(usage))
  defineList(addShowing('list'), session)
  defineInstances(addShowing('instances'), session)
  defineShow(withInstance(addShowing('show')), session)
  defineTrigger(add('trigger').argument('<gate>', 'its number or name'), session)
  for (const action of ['approve', 'reject', 'cancel'] as const)
    defineReview(withInstance(add(action)), session, action)
  defineResend(withInstance(add('resend')), session)
  defineCreate(add('create').argument('<file>', 'the gate as JSON or YAML'), session)
}
