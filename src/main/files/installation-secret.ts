import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

import { AppError, hasErrorCode } from '../../errors/app-error.js'

const SECRET_BYTES = 32
/**
 * Minimum length in characters. A shorter secret can be guessed, or was truncated by a full disk.
 */
const MIN_LENGTH = 16

/**
 * Returns a secret of this installation in base64. It is created at the first call and stored in
 * the data directory. Throws `unavailable` for a file without a secret, because anyone could forge
 * a signature made with an empty one.
 */
export function installationSecret(
  dataDir: string,
  file: string,
  created: (path: string) => void = () => undefined,
): string {
  const path = join(dataDir, file)
  return readSecret(path) ?? makeSecret(path, created)
}

function readSecret(path: string): string | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (raw) {
    if (hasErrorCode(raw, 'ENOENT')) return undefined
    throw raw
  }
  if (text.length >= MIN_LENGTH) return text
  throw new AppError(
    'unavailable',
    `${path} contains ${text.length} characters instead of a secret: restore it from a backup, or remove it to create a new one`,
  )
}

/** Creates the file atomically. If two processes race, both use the secret of the first. */
function makeSecret(path: string, created: (path: string) => void): string {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    const file = openSync(draft, 'wx', 0o600)
    try {
      writeSync(file, `${newSecret()}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    putInPlace(draft, path)
    created(path)
  } catch (raw) {
    if (!hasErrorCode(raw, 'EEXIST')) throw raw
  } finally {
    rmSync(draft, { force: true })
  }
  return readSecret(path) ?? makeSecret(path, created)
}

function putInPlace(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (raw) {
    // Some file systems have no hard links.
    if (hasErrorCode(raw, 'EEXIST')) throw raw
    renameSync(draft, path)
  }
}

/** Returns a new random secret in base64. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64')
}
