import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { packFiles } from '../archive/pack-files.js'

/** The files of a bundle by their names. */
export type BundledFiles = readonly (readonly [name: string, text: string])[]

export const BUNDLE_FILE = 'bundle.tar.gz'
/** In letters. */
const [HARDLY_ANY_REGO, LITTLE_REGO, MUCH_REGO] = [50_000, 200_000, 600_000]

/** Collecting garbage takes OPA up to a third of its time; with less Rego it does so less often, and takes 10 to 50 MB more. */
export function environmentFor(files: BundledFiles): Readonly<Record<string, string>> {
  const size = files.reduce((sum, [, text]) => sum + text.length, 0)
  const given = process.env['GOGC']
  if (given !== undefined || size > MUCH_REGO) return {}
  if (size > LITTLE_REGO) return { GOGC: '200' }
  const limit = size <= HARDLY_ANY_REGO ? '128MiB' : '256MiB'
  return { GOGC: 'off', GOMEMLIMIT: process.env['GOMEMLIMIT'] ?? limit }
}

/** One file, and not compressed: a thousand files and directories take longer to write, read and remove than to compile. */
export async function writeBundle(directory: string, files: BundledFiles): Promise<void> {
  await writeFile(join(directory, BUNDLE_FILE), await packFiles(files, 0))
}
