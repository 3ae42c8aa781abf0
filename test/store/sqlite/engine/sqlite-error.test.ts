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
