import Database from 'better-sqlite3'
import { AppError, hasErrorCode, toError } from '../../../errors/app-error.js'
import { packageRoot } from '../../../lib/package-root.js'

const { SqliteError } = Database

/** Error code of a file whose content SQLite cannot read. */
export const STORE_DAMAGED = 'store_damaged'
/** Error code of a full disk, or a file at its size limit. */
export const STORE_FULL = 'store_full'
/** Error code of a file that is not at its path any more. */
export const STORE_LOST = 'store_lost'
/** Error code of a file that the system does not let us read or write. */
export const STORE_FAILING = 'store_failing'

/** Maps a driver's error (sqlite.org/rescode.html) to an AppError that names the action. */
export function toStoreError(action: string, raw: unknown): AppError {
  if (raw instanceof AppError) return raw
  const cause = toError(raw)
  if (isDriverMissing(cause)) return driverMissing(cause)
  const code = raw instanceof SqliteError ? raw.code : ''
  if (code.startsWith('SQLITE_CONSTRAINT')) {
    return new AppError('conflict', `${action}: ${cause.message}`, { cause })
  }
  const message = `${action}: ${explain(code, cause.message)}`
  if (isDamage(code)) return new AppError('unavailable', message, { code: STORE_DAMAGED, cause })
  if (code === 'SQLITE_FULL') return new AppError('unavailable', message, { code: STORE_FULL, cause })
  if (isRefusedBySystem(code)) return new AppError('unavailable', message, { code: STORE_FAILING, cause })
  return new AppError('unavailable', message, { cause })
}

/** Maps a driver's error like `toStoreError` and returns the operations' own errors unchanged. */
export function fromDriver(action: string, raw: unknown): unknown {
  return raw instanceof Error && raw.name === 'SqliteError' ? toStoreError(action, raw) : raw
}

/** Whether the driver has no binary for this platform, or npm did not install it. */
function isDriverMissing(error: Error): boolean {
  return hasErrorCode(error, 'MODULE_NOT_FOUND') || hasErrorCode(error, 'ERR_DLOPEN_FAILED')
}

function driverMissing(cause: Error): AppError {
  return new AppError(
    'unavailable',
    `better-sqlite3 has no binary for ${process.platform} ${process.arch} in ${packageRoot}: use Linux, macOS or Windows on x64 or arm64, and install without --omit`,
    { cause },
  )
}

function isDamage(code: string): boolean {
  return code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')
}

function isRefusedBySystem(code: string): boolean {
  return ['SQLITE_IOERR', 'SQLITE_READONLY', 'SQLITE_CANTOPEN', 'SQLITE_PERM'].some((prefix) =>
    code.startsWith(prefix),
  )
}

function explain(code: string, message: string): string {
  if (isDamage(code)) {
    return `the file is damaged or no database (${message}): restore it from a backup or move it away, while the service is stopped`
  }
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    return `the file is locked by another process (${message}): stop that process, such as a backup or a database shell, and try again`
  }
  if (code === 'SQLITE_FULL') return `no space left (${message}): free some on the disk`
  if (code.startsWith('SQLITE_READONLY') || code === 'SQLITE_CANTOPEN' || code === 'SQLITE_PERM') {
    return `the file cannot be opened for writing (${message}): check its owner and mode`
  }
  if (code === 'SQLITE_IOERR_GETTEMPPATH') {
    return `there is no directory for temporary files (${message}): set TMPDIR to a writable one`
  }
  if (code.startsWith('SQLITE_IOERR')) {
    return `the disk cannot be read or written (${message}): check that it works and is not full, and that TMPDIR is writable`
  }
  return message
}
