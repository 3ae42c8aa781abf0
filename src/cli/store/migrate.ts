import type { Command } from 'commander'

import { migrateStore } from '../../main/store/copy-store.js'
import { EXIT } from '../session/session.js'
import type { Session } from '../session/session.js'
import { addOutputOptions, examples, outJson } from '../session/shared-options.js'
import type { OutputOptions } from '../session/shared-options.js'
import { databaseOption } from './database-option.js'

/** `tidegate store migrate`: the schema, before a service starts with it. */
export function defineMigrate(command: Command, session: Session): void {
  addOutputOptions(command)
    .description(
      'Brings the schema of a database up to date. A service does the same when it starts, if its user may.',
    )
    .requiredOption('--store <url>', 'the database, postgres://USER@HOST/NAME')
    .addHelpText(
      'after',
      examples('tidegate store migrate --store postgres://tidegate@db.example.org/tidegate'),
    )
    .action(async ({ store, format }: OutputOptions & { readonly store: string }) => {
      const { settings } = databaseOption('--store', store)
      const isChanged = await migrateStore(settings)
      if (format === 'json') outJson(session.terminal, { isChanged })
      else session.terminal.out(isChanged ? 'the schema is up to date now\n' : 'the schema was up to date\n')
      session.exitCode = EXIT.fine
    })
}
