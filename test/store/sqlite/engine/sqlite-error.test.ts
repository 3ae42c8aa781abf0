import Database from 'better-sqlite3'
import { describe, expect, it, test } from 'vitest'

import { toStoreError } from '../../../../src/store/sqlite/engine/sqlite-error.js'

test.each(['MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED'])(
  'a driver without a binary for this platform is reported in one line (%s)',
  (code) => {
    const cause = Object.assign(new Error('Cannot load a.node\nRequire stack:\n- /usr/lib'), { code })
    const error = toStoreError('open tidegate.db', cause)
    expect(error.kind).toBe('unavailable')
    expect(error.message).toContain(`no binary for ${process.platform} ${process.arch}`)
    expect(error.message).not.toContain('\n')
  },
)

describe('an error of the disk', () => {
  it.each(['SQLITE_IOERR_GETTEMPPATH', 'SQLITE_IOERR_WRITE'])('is told with what to look at (%s)', (code) => {
    const error = toStoreError('open tidegate.db', new Database.SqliteError('disk I/O error', code))
    expect(error.code).toBe('store_failing')
    expect(error.message).toMatch(/disk I\/O error.*TMPDIR/)
  })
})
