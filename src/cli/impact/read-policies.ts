import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { basename, relative, sep } from 'node:path'

import { AppError, toError } from '../../errors/app-error.js'
import type { SentPolicies } from '../../impact/impact-request.js'
import { isTestFile, listSourceTree } from '../../rego/index.js'

/**
 * Reads directories of Rego, or one bundle, to send them. Tests are left out. Raises `invalid` for
 * paths that cannot be read, and for a bundle next to something else.
 */
export async function readPolicies(paths: readonly string[], name: string): Promise<SentPolicies> {
  refuseAbsent(paths)
  const [only] = paths
  if (paths.length === 1 && only !== undefined && (await isFile(only)) && !only.endsWith('.rego'))
    return { name, archive: await read(only) }
  const directories = await Promise.all(paths.map(readDirectory))
  return { name, directories }
}

/** Raises `invalid` that names the paths where nothing is. */
export function refuseAbsent(paths: readonly string[]): void {
  const absent = paths.filter((path) => !existsSync(path))
  if (absent.length > 0)
    throw new AppError('invalid', `${absent.join(', ')} not found: name a directory of policies or a bundle`)
}

async function readDirectory(root: string): Promise<Record<string, string>> {
  const { sources } = await listSourceTree(root)
  const wanted = sources.filter(({ file }) => !isTestFile(file))
  if (wanted.length === 0)
    throw new AppError('invalid', `no Rego files and no data.json or data.yaml in ${root}`)
  const files = await Promise.all(
    wanted.map(async ({ file }) => {
      const path = file === root ? basename(file) : relative(root, file).split(sep).join('/')
      return [path, (await read(file)).toString('utf8')] as const
    }),
  )
  return Object.fromEntries(files)
}

async function read(file: string): Promise<Buffer> {
  return await readFile(file).catch((cause: unknown) => {
    throw new AppError('invalid', `read policies: ${toError(cause).message}`, { cause })
  })
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  )
}
