import type { Command } from 'commander'

import { AppError } from '../errors/app-error.js'
import { loadConfig } from '../config/load-config.js'
import type { Manifest } from './backup/manifest.js'
import { restoreBackup } from './backup/restore-backup.js'
import { writeBackup } from './backup/write-backup.js'
import { localTime } from './output/local-time.js'
import { Progress } from './output/progress.js'
import { textTable } from './output/text-table.js'
import type { Session } from './session/session.js'
import { addConfigOption, addOutputOptions, examples, outJson } from './session/shared-options.js'
import type { OutputOptions } from './session/shared-options.js'

interface DataDirectoryOptions extends OutputOptions {
  readonly config?: string
  readonly dataDir?: string
}

interface BackupOptions extends DataDirectoryOptions {
  readonly decisionsOnly?: true
}

/** `tidegate backup`: the data directory of a running service, as a folder. */
export function defineBackup(command: Command, session: Session): void {
  addDataDirectoryOptions(command)
    .description(
      'Copies the databases and secrets of a data directory to a new folder, while the service runs or not, and proves the copy. The folder holds secrets: keep it as you keep those.',
    )
    .argument('<folder>', 'the folder to write, which must not be there')
    .option(
      '--decisions-only',
      'copy the data directory of a service on PostgreSQL: the decision log and secrets, without gates, trail and analyses',
    )
    .addHelpText('after', examples('tidegate backup /backups/2026-11-22 --data-dir /var/lib/tidegate'))
    .action(async (folder: string, options: BackupOptions) => {
      const { decisionsOnly = false } = options
      const dataDir = decisionsOnly
        ? (options.dataDir ?? loadConfig({ file: options.config, env: session.terminal.env }).dataDir)
        : dataDirectory(options, session, 'pg_dump --format=custom --file FILE')
      const work = writeBackup(dataDir, folder, new Date(), decisionsOnly)
      tell(
        await new Progress(session.terminal).during('copying and proving …', work),
        folder,
        options,
        session,
      )
    })
}

/** `tidegate restore`: a data directory from such a folder. */
export function defineRestore(command: Command, session: Session): void {
  addDataDirectoryOptions(command)
    .description('Makes a data directory of a backup. The directory must be empty or not be there.')
    .argument('<folder>', 'what tidegate backup wrote')
    .addHelpText('after', examples('tidegate restore /backups/2026-11-22 --data-dir /var/lib/tidegate'))
    .action(async (folder: string, options: DataDirectoryOptions) => {
      const dataDir = dataDirectory(options, session, 'pg_restore --dbname')
      const work = restoreBackup(folder, dataDir)
      tell(
        await new Progress(session.terminal).during('copying and comparing …', work),
        dataDir,
        options,
        session,
      )
    })
}

function addDataDirectoryOptions(command: Command): Command {
  return addConfigOption(addOutputOptions(command)).option(
    '--data-dir <dir>',
    'the data directory (else that of the configuration)',
  )
}

/** The directory that is meant. Raises `invalid` for a configuration whose records are in a database, which other programs copy. */
function dataDirectory(
  { config: file, dataDir }: DataDirectoryOptions,
  { terminal }: Session,
  program: string,
): string {
  const { store, dataDir: configured } = loadConfig({ file, env: terminal.env })
  if (store.url === undefined) return dataDir ?? configured
  throw new AppError(
    'invalid',
    `the records of this configuration are in PostgreSQL (store.url): use ${program} ${store.url}, and prove the trail with tidegate audit verify --store ${store.url}; tidegate backup --decisions-only copies the decision log of one service, which is not there`,
  )
}

function tell(manifest: Manifest, folder: string, { format }: OutputOptions, { terminal }: Session): void {
  if (format === 'json') {
    outJson(terminal, { folder, ...manifest })
    return
  }
  terminal.out(`${folder}, of ${localTime(manifest.time)}, by tidegate ${manifest.tidegate}\n`)
  terminal.out(
    textTable(
      manifest.files.map(({ name, bytes }) => [`  ${name}`, String(bytes)]),
      [1],
    ),
  )
  if (manifest.trailEnd !== undefined) terminal.out(`end of the trail: ${manifest.trailEnd}\n`)
}
