import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'

import { AppError, toError } from '../../errors/app-error.js'

const READ_BYTES = 1024 * 1024

/** The SHA-256 of a program file in hexadecimal digits. Raises `unavailable` when it cannot be read. */
export async function hashProgram(path: string): Promise<string> {
  const hash = createHash('sha256')
  // One buffer for the whole file: a stream would leave as much garbage behind as the program is large.
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
