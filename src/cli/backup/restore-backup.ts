import { chmod, copyFile, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { AppError, hasErrorCode } from '../../errors/app-error.js'
import { checkDatabase, reserveNumbers } from '../../main/store/database-files.js'
import { SERVICE_DATABASE, compareWithManifest, readManifest } from './manifest.js'
import type { Manifest } from './manifest.js'

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
