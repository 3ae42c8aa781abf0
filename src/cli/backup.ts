import { createHash } from 'node:crypto'
import { existsSync, createReadStream, readFileSync } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, rename, rm, writeFile, rmdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import { loadConfig } from '../config/load-config.js'
import { AppError, hasErrorCode, toError } from '../errors/app-error.js'
import { packageVersion } from '../lib/package-root.js'
import { copyDatabase, checkDatabase, reserveNumbers } from '../main/store/database-files.js'
import { provenTrailEnd } from '../main/store/stored-trail.js'
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

/** `tidegate backup`: copies the data directory of a running service. */
export function defineBackup(command: Command, session: Session): void {
  addDataDirectoryOptions(command)
    .description(
      'Copies the databases and secrets of a data directory to a new folder and verifies the copy. The service may keep running. The folder contains secrets: protect it accordingly.',
    )
    .argument('<folder>', 'folder to create')
    .option(
      '--decisions-only',
      'for a service on PostgreSQL: copy only the decision log and secrets, without gates, trail and analyses',
    )
    .addHelpText('after', examples('tidegate backup /backups/2026-11-22 --data-dir /var/lib/tidegate'))
    .action(async (folder: string, options: BackupOptions) => {
      const { decisionsOnly = false } = options
      const dataDir = decisionsOnly
        ? (options.dataDir ?? loadConfig({ file: options.config, env: session.terminal.env }).dataDir)
        : dataDirectory(options, session, 'pg_dump --format=custom --file FILE')
      const work = writeBackup(dataDir, folder, new Date(), decisionsOnly)
      printManifest(
        await new Progress(session.terminal).during('copying and verifying …', work),
        folder,
        options,
        session,
      )
    })
}

/** `tidegate restore`: creates a data directory from a backup. */
export function defineRestore(command: Command, session: Session): void {
  addDataDirectoryOptions(command)
    .description('Creates a data directory from a backup. The directory must be empty or missing.')
    .argument('<folder>', 'folder written by tidegate backup')
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
    'data directory (default: that of the configuration)',
  )
}

/**
 * Returns the data directory. Raises `invalid` if the records are in a database, which its own
 * tools back up.
 */
function dataDirectory(
  { config: file, dataDir }: DataDirectoryOptions,
  { terminal }: Session,
  program: string,
): string {
  const { store, dataDir: configured } = loadConfig({ file, env: terminal.env })
  if (store.url === undefined) return dataDir ?? configured
  throw new AppError(
    'invalid',
    `The records of this configuration are in PostgreSQL (store.url). Use ${program} ${store.url}, and verify the trail with tidegate audit verify --store ${store.url}. tidegate backup --decisions-only copies the local decision log.`,
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
  terminal.out(`${folder}: backup of ${localTime(manifest.time)} by tidegate ${manifest.tidegate}\n`)
  terminal.out(
    textTable(
      manifest.files.map(({ name, bytes }) => [`  ${name}`, String(bytes)]),
      [1],
    ),
  )
  if (manifest.trailEnd !== undefined) terminal.out(`end of trail: ${manifest.trailEnd}\n`)
}

const DATABASE_SUFFIX = '.db'
/**
 * Files without meaning in a backup: locks, SQLite's auxiliary files, drafts, damaged files, and
 * notes of unfinished work.
 */
const NOT_KEPT = /\.(?:lock|new|tmp)$|-(?:wal|shm|journal)$|\.damaged-|^unfinished-work\.|^\./

/**
 * Copies the databases and secrets of a data directory to a new folder, while the service may run,
 * and verifies every page and the trail's chain. The folder appears complete or not at all. Raises
 * `conflict` if it exists, `not_found` if there is nothing to copy or the main database is missing
 * without `decisionsOnly`, and `unavailable` if something cannot be read or verified.
 */
async function writeBackup(
  dataDir: string,
  backup: string,
  now: Date,
  decisionsOnly = false,
): Promise<Manifest> {
  if (existsSync(backup)) {
    throw new AppError('conflict', `${backup} already exists; choose a new folder`)
  }
  const names = await namesToKeep(dataDir, decisionsOnly)
  // Next to the folder, even if its name ends with a slash.
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
    throw new AppError('not_found', `Data directory ${dataDir} not found. Pass --data-dir DIR.`, {
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
      `${dataDir} contains no ${SERVICE_DATABASE}, so a backup would have no gates, trail or analyses. A service on PostgreSQL (store.url) stores them there; back them up with pg_dump, and pass --decisions-only to copy this directory.`,
    )
  throw new AppError('not_found', `${dataDir} contains no tidegate database. Pass --data-dir DIR.`)
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
 * Creates a data directory from a backup and compares every file with the manifest before and after
 * copying. Ids that may have been issued after the backup are not reused. Raises `conflict` if the
 * directory is not empty, and `invalid` for an incomplete backup.
 */
async function restoreBackup(backup: string, dataDir: string): Promise<Manifest> {
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
    // The backup of a service on PostgreSQL has no main database.
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
    `${dataDir} is not empty. Restore into an empty directory, or move its contents away while no service uses it.`,
  )
}

/** Moves the draft to its place. A mount point cannot be replaced, so files are copied into it. */
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

/** Manifest of a backup. It is written last, so a backup without it is incomplete. */
const MANIFEST_FILE = 'backup.json'
/** Main database: everything but decisions. */
const SERVICE_DATABASE = 'tidegate.db'

const FileEntry = z.strictObject({
  // No path separators: a restore must not write elsewhere.
  name: z.string().regex(/^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/),
  bytes: z.number().int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})

const Manifest = z.object({
  format: z.literal('tidegate-backup'),
  formatVersion: z.literal(1),
  tidegate: z.string(),
  time: z.iso.datetime(),
  /** Last record of the audit trail, for `tidegate audit verify --expected`. */
  trailEnd: z.string().optional(),
  files: z.array(FileEntry).nonempty(),
})

/** Contents of a backup. */
type Manifest = z.infer<typeof Manifest>
type FileEntry = z.infer<typeof FileEntry>

/** Reads the manifest of a backup. Raises `invalid` if it is missing or from another release. */
function readManifest(backup: string): Manifest {
  const path = join(backup, MANIFEST_FILE)
  try {
    return Manifest.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    const problem =
      cause instanceof z.ZodError ? 'it does not match the format of this release' : toError(cause).message
    throw new AppError(
      'invalid',
      `${backup} is not a complete backup: cannot read ${MANIFEST_FILE}: ${problem}`,
      {
        cause,
      },
    )
  }
}

/** Returns a file's manifest entry. */
async function describeFile(folder: string, name: string): Promise<FileEntry> {
  const path = join(folder, name)
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return { name, bytes: (await stat(path)).size, sha256: hash.digest('hex') }
}

/** Raises `invalid` naming every missing or changed file. */
async function compareWithManifest(folder: string, { files }: Manifest): Promise<void> {
  const problems: string[] = []
  for (const file of files) {
    try {
      const found = await describeFile(folder, file.name)
      if (found.sha256 !== file.sha256) problems.push(`${file.name} was changed`)
    } catch (raw) {
      problems.push(`${file.name}: ${toError(raw).message}`)
    }
  }
  if (problems.length > 0) {
    throw new AppError('invalid', `${folder} is not what its ${MANIFEST_FILE} says: ${problems.join('; ')}`)
  }
}
