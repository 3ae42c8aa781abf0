import { createHash } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

import { AppError, toError } from '../../errors/app-error.js'

/** The file of a backup that says what belongs to it; written last, so that a backup without one is not whole. */
export const MANIFEST_FILE = 'backup.json'
/** The file of a backup that has the trail, and all else but decisions. */
export const SERVICE_DATABASE = 'tidegate.db'

const FileEntry = z.strictObject({
  // A plain name: a restore must not write elsewhere.
  name: z.string().regex(/^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/),
  bytes: z.number().int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})

const Manifest = z.object({
  format: z.literal('tidegate-backup'),
  formatVersion: z.literal(1),
  tidegate: z.string(),
  time: z.iso.datetime(),
  /** The last record of the audit trail: `tidegate audit verify --expected` takes it. */
  trailEnd: z.string().optional(),
  files: z.array(FileEntry).nonempty(),
})

/** What a backup holds. */
export type Manifest = z.infer<typeof Manifest>
export type FileEntry = z.infer<typeof FileEntry>

/** Reads what a backup says it holds. Raises `invalid` where there is no such file or another release wrote it. */
export function readManifest(backup: string): Manifest {
  const path = join(backup, MANIFEST_FILE)
  try {
    return Manifest.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    const problem =
      cause instanceof z.ZodError ? 'its content is not what this release writes' : toError(cause).message
    throw new AppError('invalid', `${backup} is no whole backup: read ${MANIFEST_FILE}: ${problem}`, {
      cause,
    })
  }
}

/** A file as the manifest lists it. */
export async function describeFile(folder: string, name: string): Promise<FileEntry> {
  const path = join(folder, name)
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return { name, bytes: (await stat(path)).size, sha256: hash.digest('hex') }
}

/** Raises `invalid` naming every file that is missing or is not what the manifest says. */
export async function compareWithManifest(folder: string, { files }: Manifest): Promise<void> {
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
