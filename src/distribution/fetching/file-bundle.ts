import { readFile } from 'node:fs/promises'

import { AppError, toError } from '../../errors/app-error.js'
import { versionOfFile } from '../../lib/file-version.js'
import type { FetchBundle } from './fetch-bundle.js'

/** Reads a bundle from a file, as `resource: file:///…` of OPA names it. */
export function fetchFromFile(path: string): FetchBundle {
  return async ({ known }) => {
    const version = await versionOfFile(path)
    if (version !== undefined && version === known) return { isChanged: false, isLongPoll: false }
    try {
      return { isChanged: true, bytes: await readFile(path), version, isLongPoll: false }
    } catch (raw) {
      throw new AppError('unavailable', `the bundle cannot be read: ${toError(raw).message}`, { cause: raw })
    }
  }
}
