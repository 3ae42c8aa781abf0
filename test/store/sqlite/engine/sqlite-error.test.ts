import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'

import { toStoreError } from '../../../../src/store/sqlite/engine/sqlite-error.js'

describe('a driver that npm was not let compile', () => {
  it.each([
    'Could not locate the bindings file. Tried:\n → /usr/lib/a.node\n → /usr/lib/b.node',
    "The module '/usr/lib/a.node'\nwas compiled against a different Node.js version using\nNODE_MODULE_VERSION 108.",
  ])('is told in one line that says what to do', (message) => {
    const error = toStoreError('open tidegate.db', new Error(message))
    expect(error.kind).toBe('unavailable')
    expect(error.message).toContain('npm rebuild better-sqlite3')
    expect(error.message).not.toContain('\n')
  })
})

describe('an error of the disk', () => {
  it.each(['SQLITE_IOERR_GETTEMPPATH', 'SQLITE_IOERR_WRITE'])('is told with what to look at (%s)', (code) => {
    const error = toStoreError('open tidegate.db', new Database.SqliteError('disk I/O error', code))
    expect(error.code).toBe('store_failing')
    expect(error.message).toMatch(/disk I\/O error.*TMPDIR/)
  })
})
