import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { AppError } from '../errors/app-error.js'
import { readBundle, unpackBundle, type PolicyLocations } from '../rego/index.js'
import type { SentPolicies } from './impact-request.js'

/**
 * Writes sent policies into an empty directory and returns where they are. A bundle without a
 * compiled module becomes a directory. Raises `invalid` for a damaged bundle.
 */
export async function stagePolicies(
  { directories = [], bundle, archive }: SentPolicies,
  directory: string,
): Promise<PolicyLocations> {
  const packed = archive ?? (bundle === undefined ? undefined : Buffer.from(bundle, 'base64'))
  if (packed !== undefined) return await stageBundle(packed, directory)
  const roots = await Promise.all(
    directories.map(async (files, index) => {
      const root = join(directory, String(index), 'policies')
      await writeFiles(root, Object.entries(files))
      return root
    }),
  )
  return { directories: roots, bundles: [] }
}

async function stageBundle(bytes: Uint8Array, directory: string): Promise<PolicyLocations> {
  const files = await unpackBundle('bundle.tar.gz', bytes)
  if (readBundle('bundle.tar.gz', files).wasm === undefined) {
    refuseFilesBelowFiles([...files.keys()])
    const root = join(directory, 'policies')
    await writeFiles(root, files)
    return { directories: [root], bundles: [] }
  }
  const file = join(directory, 'bundle.tar.gz')
  await writeFiles(directory, [['bundle.tar.gz', bytes]])
  return { directories: [], bundles: [file] }
}

/** Raises `invalid` for a path that is both a file and a directory. */
function refuseFilesBelowFiles(paths: readonly string[]): void {
  const all = new Set(paths)
  for (const path of paths)
    for (let above = dirname(path); above !== '.'; above = dirname(above))
      if (all.has(above))
        throw new AppError('invalid', `read bundle: ${above} is a file, so ${path} cannot be below it`)
}

async function writeFiles(
  root: string,
  files: Iterable<readonly [path: string, content: string | Uint8Array]>,
): Promise<void> {
  await mkdir(root, { recursive: true })
  for (const [path, content] of files) {
    const file = join(root, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
  }
}
