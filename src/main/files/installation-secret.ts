import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasErrorCode } from '../../errors/app-error.js'

const SECRET_BYTES = 32

/** A secret of this installation's own, base64, made at the first call and kept beside the database. */
export function installationSecret(
  dataDir: string,
  file: string,
  created: (path: string) => void = () => undefined,
): string {
  const path = join(dataDir, file)
  try {
    writeFileSync(path, `${newSecret()}\n`, { mode: 0o600, flag: 'wx' })
    created(path)
  } catch (raw) {
    if (!hasErrorCode(raw, 'EEXIST')) throw raw
  }
  return readFileSync(path, 'utf8').trim()
}

/** A secret that nobody has yet, base64. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64')
}
