import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'
import { executeWrites } from '../../../../src/store/sqlite/calls/execute-batch.js'
import { openDatabase } from '../../../../src/store/sqlite/engine/open-database.js'
import { serviceDatabaseOptions } from '../../../../src/store/sqlite/engine/service-file.js'

/** https://sqlite.org/pragma.html#pragma_synchronous */
const [NORMAL, FULL] = [1, 2]
const context = { clearCaches: () => undefined }

describe('a commit', () => {
  it.each([
    ['waits for the disk', [{}], FULL],
    ['does not where all of it can be done again', [{ repeats: true }, { repeats: true }], NORMAL],
    ['waits where some of it was promised to somebody', [{ repeats: true }, { repeats: false }], FULL],
  ])('%s', async (_, calls, expected) => {
    const directory = mkdtempSync(join(tmpdir(), 'tidegate-test-'))
    const database = openDatabase(serviceDatabaseOptions(join(directory, 'tidegate.db')))
    onTestFinished(() => {
      database.close()
      rmSync(directory, { recursive: true })
    })
    const synchronous = () => Promise.resolve(database.pragma('synchronous', { simple: true }))
    const bound = calls.map((call) => Object.assign(() => synchronous(), call))
    // After a commit of the other kind.
    await executeWrites(database, context, [Object.assign(synchronous, { repeats: expected === FULL })])
    const outcomes = await executeWrites(database, context, bound)
    expect(outcomes).toEqual(calls.map(() => ({ ok: true, result: expected })))
  })
})
