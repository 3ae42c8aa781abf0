import type { Command } from 'commander'

import type { Session } from './session/session.js'
import { examples } from './session/shared-options.js'
import { defineCopy } from './store/copy.js'
import { defineMigrate } from './store/migrate.js'

/** `tidegate store`: the commands about a PostgreSQL that several services share. */
export function defineStore(command: Command, session: Session): void {
  command
    .description(
      'Prepares a PostgreSQL that several services share. Its password is that of PGPASSWORD or ~/.pgpass.',
    )
    .addHelpText(
      'after',
      examples(
        'tidegate store migrate --store postgres://tidegate@db.example.org/tidegate',
        'tidegate store copy --from data --to postgres://tidegate@db.example.org/tidegate',
      ),
    )
  const add = (usage: string): Command => command.command(usage)
  defineMigrate(add('migrate'), session)
  defineCopy(add('copy'), session)
}
