import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, rename, rm, writeFile, rmdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'

import { AppError, hasErrorCode } from '../errors/app-error.js'
import { loadConfig } from '../config/load-config.js'
import {
  SERVICE_DATABASE,
  describeFile,
  MANIFEST_FILE,
  compareWithManifest,
  readManifest,
} from './backup/manifest.js'
import type { Manifest, FileEntry } from './backup/manifest.js'
import { localTime } from './output/local-time.js'
import { Progress } from './output/progress.js'
import { textTable } from './output/text-table.js'
import type { Session } from './session/session.js'
import { addConfigOption, addOutputOptions, examples, outJson } from './session/shared-options.js'
import type { OutputOptions } from './session/shared-options.js'
import { packageVersion } from '../lib/package-root.js'
import { copyDatabase, checkDatabase, reserveNumbers } from '../main/store/database-files.js'
import { provenTrailEnd } from '../main/store/stored-trail.js'

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
      printManifest(
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
      printManifest(
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

function printManifest(
  manifest: Manifest,
  folder: string,
  { format }: OutputOptions,
  { terminal }: Session,
): void {
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

const DATABASE_SUFFIX = '.db'
/** What means nothing elsewhere: locks, what SQLite keeps beside a database, drafts, damaged files, and notes of unfinished work. */
const NOT_KEPT = /\.(?:lock|new|tmp)$|-(?:wal|shm|journal)$|\.damaged-|^unfinished-work\.|^\./

/**
 * Copies the databases and secrets of a data directory to a new folder while the service may run, and proves the copy: every page of it, and the
 * chain of the trail. The folder appears whole or not at all. Raises `conflict` where it is there already, `not_found` where there is nothing
 * to copy, or no database of gates and trail unless only decisions are wanted, `unavailable` for what cannot be read or proven.
 */
export async function writeBackup(
  dataDir: string,
  backup: string,
  now: Date,
  decisionsOnly = false,
): Promise<Manifest> {
  if (existsSync(backup)) {
    throw new AppError(
      'conflict',
      `${backup} is there already: name a folder that a backup has not been written to`,
    )
  }
  const names = await namesToKeep(dataDir, decisionsOnly)
  // Beside the folder, not in it where its name ends in a slash.
  const draft = `${resolve(backup)}.${process.pid}.tmp`
  await mkdir(dirname(draft), { recursive: true })
  await mkdir(draft, { mode: 0o700 })
  try {
    for (const name of names) {
      if (isDatabase(name)) await copyDatabase(join(dataDir, name), join(draft, name))
      else await copyFile(join(dataDir, name), join(draft, name))
      await chmod(join(draft, name), 0o600)
    }
    const manifest = await describe(draft, names, now)
    await writeFile(join(draft, MANIFEST_FILE), `${JSON.stringify(manifest, undefined, 2)}\n`, {
      mode: 0o600,
    })
    await rename(draft, backup)
    return manifest
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function namesToKeep(dataDir: string, decisionsOnly: boolean): Promise<string[]> {
  const entries = await readdir(dataDir, { withFileTypes: true }).catch((cause: unknown) => {
    throw new AppError('not_found', `there is no data directory ${dataDir}: name it with --data-dir`, {
      cause,
    })
  })
  const names = entries
    .filter((entry) => entry.isFile() && !NOT_KEPT.test(entry.name))
    .map(({ name }) => name)
  if (names.includes(SERVICE_DATABASE) || (decisionsOnly && names.some(isDatabase))) return names.sort()
  if (names.some(isDatabase))
    throw new AppError(
      'not_found',
      `there is no ${SERVICE_DATABASE} in ${dataDir}, so that a backup would hold no gates, trail or analyses: a service on PostgreSQL (store.url) has them there, and pg_dump copies them. --decisions-only copies what is here.`,
    )
  throw new AppError(
    'not_found',
    `there is no database of tidegate in ${dataDir}: name the directory with --data-dir`,
  )
}

function isDatabase(name: string): boolean {
  return name.endsWith(DATABASE_SUFFIX)
}

async function describe(folder: string, names: readonly string[], now: Date): Promise<Manifest> {
  const trailEnd = names.includes(SERVICE_DATABASE) ? await provenTrailEnd(folder) : undefined
  const files: FileEntry[] = []
  for (const name of names) files.push(await describeFile(folder, name))
  const [first, ...rest] = files
  if (first === undefined) throw new AppError('internal', 'a backup without files')
  return {
    format: 'tidegate-backup',
    formatVersion: 1,
    tidegate: packageVersion(),
    time: now.toISOString(),
    ...(trailEnd !== undefined && { trailEnd }),
    files: [first, ...rest],
  }
}

/**
 * Makes a data directory of a backup, having compared every file with what the backup says of it, before and after. Numbers that may have been
 * given after the backup are not given again. Raises `conflict`
 * for a directory that holds anything, `invalid` for a backup that is not whole.
 */
export async function restoreBackup(backup: string, dataDir: string): Promise<Manifest> {
  const manifest = readManifest(backup)
  await refuseFilled(dataDir)
  await compareWithManifest(backup, manifest)
  const draft = `${dataDir.replace(/\/+$/, '')}.${process.pid}.tmp`
  await mkdir(dirname(draft), { recursive: true })
  await mkdir(draft, { mode: 0o700 })
  try {
    for (const { name } of manifest.files) {
      await copyFile(join(backup, name), join(draft, name))
      await chmod(join(draft, name), 0o600)
      if (name.endsWith('.db')) checkDatabase(join(draft, name))
    }
    await compareWithManifest(draft, manifest)
    // A service that keeps its records in PostgreSQL has no such file.
    if (manifest.files.some(({ name }) => name === SERVICE_DATABASE))
      reserveNumbers(join(draft, SERVICE_DATABASE))
    await putInPlace(draft, dataDir)
    return manifest
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function refuseFilled(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch((raw: unknown) => {
    if (hasErrorCode(raw, 'ENOENT')) return []
    throw raw
  })
  if (names.length === 0) return
  throw new AppError(
    'conflict',
    `${dataDir} is not empty: a backup is restored into an empty directory only; move what is there away, while no service runs on it`,
  )
}

/** The directory may be a mount, which cannot be replaced: then the files go into it. */
async function putInPlace(draft: string, dataDir: string): Promise<void> {
  try {
    await rmdir(dataDir).catch((raw: unknown) => {
      if (!hasErrorCode(raw, 'ENOENT')) throw raw
    })
    await rename(draft, dataDir)
  } catch {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    for (const name of await readdir(draft)) {
      const target = join(dataDir, name)
      await copyFile(join(draft, name), target)
      await chmod(target, 0o600)
    }
  }
}
