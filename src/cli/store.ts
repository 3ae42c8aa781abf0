import type { Command } from 'commander'

import { EXIT } from './session/session.js'
import type { Session } from './session/session.js'
import { examples, addOutputOptions, outJson } from './session/shared-options.js'
import type { OutputOptions } from './session/shared-options.js'
import { migrateStore, claimFiles, copyStore } from '../main/store/copy-store.js'
import { databaseOption } from './input/database-option.js'
import type { Verification } from '../audit/verify-trail.js'
import { AppError } from '../errors/app-error.js'
import { inDataDirectory } from '../main/store/store-location.js'
import { verifyStoredTrail } from '../main/store/stored-trail.js'
import { Progress } from './output/progress.js'
import { count } from './output/text-table.js'

/** `tidegate store`: commands for a PostgreSQL database. */
export function defineStore(command: Command, session: Session): void {
  command
    .description(
      'Prepares a PostgreSQL database that several services share. The password comes from PGPASSWORD or ~/.pgpass.',
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

/** `tidegate store migrate`: migrates the schema. */
function defineMigrate(command: Command, session: Session): void {
  addOutputOptions(command)
    .description(
      'Migrates the schema of a database. A service does the same when it starts, if its user has permission.',
    )
    .requiredOption('--store <url>', 'database, postgres://USER@HOST/NAME')
    .addHelpText(
      'after',
      examples('tidegate store migrate --store postgres://tidegate@db.example.org/tidegate'),
    )
    .action(async ({ store, format }: OutputOptions & { readonly store: string }) => {
      const { settings } = databaseOption('--store', store)
      const isChanged = await migrateStore(settings)
      if (format === 'json') outJson(session.terminal, { isChanged })
      else session.terminal.out(isChanged ? 'migrated the schema\n' : 'the schema is up to date\n')
      session.exitCode = EXIT.fine
    })
}

interface CopyOptions extends OutputOptions {
  readonly from: string
  readonly to: string
}

/** `tidegate store copy`: copies a data directory to a database. */
function defineCopy(command: Command, session: Session): void {
  addOutputOptions(command)
    .description(
      'Copies all records and secrets of a data directory to an empty PostgreSQL database and verifies that the trail is identical. The service must be stopped. The decision log remains a local file.',
    )
    .requiredOption('--from <dir>', 'the data directory')
    .requiredOption('--to <url>', 'database, postgres://USER@HOST/NAME')
    .addHelpText(
      'after',
      examples('tidegate store copy --from data --to postgres://tidegate@db.example.org/tidegate'),
    )
    .action(async ({ from, to, format }: CopyOptions) => {
      const target = databaseOption('--to', to)
      const { terminal } = session
      const progress = new Progress(terminal)
      const release = claimFiles(from)
      try {
        const copied = await copyStore(from, target.settings, (table, rows) =>
          progress.show(`${table}: ${count(rows, 'row')} …`),
        )
        progress.end()
        const before = await verifyStoredTrail(inDataDirectory(from))
        const after = await verifyStoredTrail(target)
        requireSame(before, after)
        if (format === 'json')
          outJson(terminal, { copied, trail: { checked: after.checked, end: after.end } })
        else terminal.out(copiedText(copied, after))
        session.exitCode = EXIT.fine
      } finally {
        progress.end()
        await release()
      }
    })
}

function copiedText(copied: Readonly<Record<string, number>>, { checked, end }: Verification): string {
  const tables = Object.entries(copied).map(([table, rows]) => `${table}: ${rows}\n`)
  return `${tables.join('')}the trail is intact and identical: ${count(checked, 'record')}, end ${end.seq}:${end.hash}\n`
}

function requireSame(before: Verification, after: Verification): void {
  if (!before.isIntact) {
    throw new AppError('conflict', `the trail was not intact before: ${before.problems.join('; ')}`)
  }
  if (after.isIntact && after.end.hash === before.end.hash && after.checked === before.checked) return
  throw new AppError('internal', `the trail in the database is another one: ${after.problems.join('; ')}`)
}
