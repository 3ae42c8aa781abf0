import { createHash } from 'node:crypto'

import { inSlices } from '../../lib/turns/in-slices.js'
import type { DataFile, LoadedData } from '../data/load-data.js'

/** Loads base documents of data files for an address. */
export type LoadData = (parts: readonly (readonly DataFile[])[], base: number) => Promise<LoadedData>

/**
 * Returns a loader that caches the last result for the same files, if its base address leaves
 * enough memory. Other files get the last required address, since they would load twice if the
 * first estimate is too low.
 */
export function rememberData(load: LoadData): LoadData {
  let last: { readonly digest: string; readonly loaded: LoadedData } | undefined
  return async (parts, base) => {
    // Only versions are kept, since the files may have hundreds of megabytes.
    const digest = await digestFiles(parts)
    const known = last
    if (known?.digest === digest && known.loaded.image.base >= base) return known.loaded
    const loaded = await load(parts, Math.max(base, known?.loaded.image.base ?? 0))
    last = { digest, loaded }
    return loaded
  }
}

async function digestFiles(parts: readonly (readonly DataFile[])[]): Promise<string> {
  const hash = createHash('sha256')
  for (const files of parts) {
    hash.update(`${files.length} files\n`)
    for (const { file, at, content, edit } of files) {
      hash.update(`${JSON.stringify([file, at, content.length, edit])}\n`)
      await inSlices(content.length, (start, end) => hash.update(content.subarray(start, end)))
    }
  }
  return hash.digest('hex')
}
