import { createHash } from 'node:crypto'
import { open, stat } from 'node:fs/promises'

import { AppError, toError } from '../../errors/app-error.js'
import { isSettled, versionText } from '../../lib/file-version.js'

const READ_BYTES = 1024 * 1024

/**
 * Returns a function that reads a fact about a program and caches it while the program's file is
 * unchanged. Errors are not cached.
 */
export function factOfProgram<Program extends { readonly path: string }, Fact>(
  read: (program: Program) => Promise<Fact>,
): (program: Program) => Promise<Fact> {
  const known = new Map<string, Promise<Fact>>()
  return async (program) => {
    const found = await stat(program.path).catch(() => undefined)
    if (found === undefined || !isSettled(found)) return await read(program)
    const key = `${versionText(found)} ${program.path}`
    const fact = known.get(key) ?? read(program)
    known.set(key, fact)
    try {
      return await fact
    } catch (raw) {
      known.delete(key)
      throw raw
    }
  }
}

const digestOf = factOfProgram(({ path }: { readonly path: string }) => digestFile(path))

/**
 * Returns the SHA-256 of a program file in hexadecimal digits. Every load needs it, and a program
 * has about 50 MB. Raises `unavailable` if the file cannot be read.
 */
export async function hashProgram(path: string): Promise<string> {
  return await digestOf({ path })
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
