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
/** A shorter one is what a full disk left of it, or can be guessed. */
const LEAST_LENGTH = 16

/**
 * A secret of this installation's own, base64, made at the first call and kept beside the database. Raises `unavailable` for a file that holds
 * no secret: signing with an empty one would let anybody sign.
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
  if (text.length >= LEAST_LENGTH) return text
  throw new AppError(
    'unavailable',
    `${path} holds no secret, but ${text.length} characters: remove it, and a new one is made, or put the one of a backup there`,
  )
}

/** The name appears with the whole secret behind it, or not at all; who is second takes the first one's. */
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
    // Some file systems know no hard links.
    if (hasErrorCode(raw, 'EEXIST')) throw raw
    renameSync(draft, path)
  }
}

/** A secret that nobody has yet, base64. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64')
}
