import { createHash } from 'node:crypto'
import { open, stat } from 'node:fs/promises'

import { AppError, toError } from '../../errors/app-error.js'
import { isSettled, versionText } from '../../lib/file-version.js'

const READ_BYTES = 1024 * 1024

/** Digests by path and file version. Every load needs the digest, and a program has about 50 MB. */
const known = new Map<string, string>()

/**
 * Returns the SHA-256 of a program file in hexadecimal digits, cached while the file is unchanged.
 * Raises `unavailable` if it cannot be read.
 */
export async function hashProgram(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  const key = found !== undefined && isSettled(found) ? `${versionText(found)} ${path}` : undefined
  const digest = (key && known.get(key)) ?? (await digestFile(path))
  if (key !== undefined) known.set(key, digest)
  return digest
}

async function digestFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  // One buffer for the whole file. A stream would leave as much garbage as the program is large.
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
  try {
    const file = await open(path)
    try {
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, READ_BYTES, null)
        if (bytesRead === 0) return hash.digest('hex')
        hash.update(buffer.subarray(0, bytesRead))
      }
    } finally {
      await file.close()
    }
  } catch (raw) {
    throw new AppError('unavailable', `read opa program: ${toError(raw).message}`, { cause: raw })
  }
}
