import { readFileSync } from 'node:fs'

import { AppError, toError } from '../../errors/app-error.js'

/**
 * Reads the file of certificates or a key that a configuration key names. Undefined without a path.
 * Throws `invalid` if it cannot be read.
 */
export function readPem(name: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (raw) {
    throw new AppError('invalid', `${name} cannot be read: ${toError(raw).message}`)
  }
}
