import type { Command } from 'commander'

import { defineRefresh } from './orchestrator/refresh.js'
import type { Session } from './session/session.js'
import { examples } from './session/shared-options.js'

/** `tidegate orchestrator`: what is asked of the orchestrator itself. */
export function defineOrchestrator(command: Command, session: Session): void {
  command
    .description('Asks the orchestrator itself for something.')
    .addHelpText('after', examples('tidegate orchestrator refresh'))
  defineRefresh(command.command('refresh'), session)
}
