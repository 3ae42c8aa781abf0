import Database from 'better-sqlite3'
import { AppError, toError } from '../../errors.js'

const { SqliteError } = Database

/** Names what was being done and maps SQLite's result code (sqlite.org/rescode.html) to an error kind. */
export function toStoreError(action: string, raw: unknown): AppError {
  if (raw instanceof AppError) return raw
  const cause = toError(raw)
  const code = raw instanceof SqliteError ? raw.code : ''
  if (code.startsWith('SQLITE_CONSTRAINT')) {
    return new AppError('conflict', `${action}: ${cause.message}`, { cause })
  }
  return new AppError('unavailable', `${action}: ${explain(code, cause.message)}`, { cause })
}

function explain(code: string, message: string): string {
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) {
    return `the file is damaged or no database (${message}): restore it from a backup or move it away`
  }
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    return `the file is locked by another process (${message}): end what holds it, such as a backup or a database shell, and try again`
  }
  if (code === 'SQLITE_FULL') return `no space left (${message})`
  if (code.startsWith('SQLITE_READONLY') || code === 'SQLITE_CANTOPEN' || code === 'SQLITE_PERM') {
    return `the file cannot be opened for writing (${message}): check its owner and mode`
  }
  return message
}
