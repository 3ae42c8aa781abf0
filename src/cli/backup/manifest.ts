import { createHash } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

import { AppError, toError } from '../../errors/app-error.js'

/** Manifest of a backup. It is written last, so a backup without it is incomplete. */
export const MANIFEST_FILE = 'backup.json'
/** Main database: everything but decisions. */
export const SERVICE_DATABASE = 'tidegate.db'

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
export type Manifest = z.infer<typeof Manifest>
export type FileEntry = z.infer<typeof FileEntry>

/** Reads the manifest of a backup. Raises `invalid` if it is missing or from another release. */
export function readManifest(backup: string): Manifest {
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
export async function describeFile(folder: string, name: string): Promise<FileEntry> {
  const path = join(folder, name)
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return { name, bytes: (await stat(path)).size, sha256: hash.digest('hex') }
}

/** Raises `invalid` naming every missing or changed file. */
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
