import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

import { AppError } from '../../errors/app-error.js'
import { packageVersion } from '../../lib/package-root.js'
import { copyDatabase } from '../../main/store/database-files.js'
import { provenTrailEnd } from '../../main/store/stored-trail.js'
import { SERVICE_DATABASE, describeFile, MANIFEST_FILE } from './manifest.js'
import type { FileEntry, Manifest } from './manifest.js'

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
