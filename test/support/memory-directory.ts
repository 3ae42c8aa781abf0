import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'

const MEMORY = '/dev/shm'
const MIN_FREE_BYTES = 4 * 1024 ** 3

/**
 * Lets tests and the processes that they start keep temporary files in memory where there is enough
 * of it, because a commit to a disk takes some milliseconds. `TMPDIR` takes precedence.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env['TMPDIR'] !== undefined || freeBytes() < MIN_FREE_BYTES) return
  const directory = mkdtempSync(`${MEMORY}/tidegate-tests-`)
  // PostgreSQL runs as another user.
  chmodSync(directory, 0o755)
  process.env['TMPDIR'] = directory
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
}

function freeBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize
  } catch {
    return 0
  }
}
