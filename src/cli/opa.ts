import type { Command } from 'commander'

import { defineInstall } from './opa/install.js'
import type { Session } from './session/session.js'
import { examples } from './session/shared-options.js'

/** `tidegate opa`: the program that compiles policies. */
export function defineOpa(command: Command, session: Session): void {
  command
    .description(
      'Looks after the opa program that compiles policies; tidegate version tells which one is used.',
    )
    .addHelpText('after', examples('tidegate opa install', 'tidegate opa install 1.20.2'))
  defineInstall(command.command('install'), session)
}
