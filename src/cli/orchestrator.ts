import type { Command } from 'commander'

import { defineOrchestratorDoctor } from './orchestrator/doctor.js'
import { defineRefresh } from './orchestrator/refresh.js'
import type { Session } from './session/session.js'
import { examples } from './session/shared-options.js'

/** `tidegate orchestrator`: what is asked of the orchestrator itself. */
export function defineOrchestrator(command: Command, session: Session): void {
  command
    .description('Asks the orchestrator itself for something.')
    .addHelpText('after', examples('tidegate orchestrator doctor', 'tidegate orchestrator refresh'))
  defineOrchestratorDoctor(command.command('doctor'), session)
  defineRefresh(command.command('refresh'), session)
}
