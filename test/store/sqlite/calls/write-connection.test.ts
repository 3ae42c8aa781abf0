import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'
import { operationRegistry } from '../../../../src/store/ports/operation.js'
import { WriteConnection } from '../../../../src/store/sqlite/calls/write-connection.js'
import { openDatabase } from '../../../../src/store/sqlite/engine/open-database.js'
import { serviceDatabaseOptions } from '../../../../src/store/sqlite/engine/service-file.js'

/** https://sqlite.org/pragma.html#pragma_synchronous */
const [NORMAL, FULL] = [1, 2]
const context = { clearCaches: () => undefined }

describe('a commit', () => {
  it.each([
    ['waits for the disk', [false], FULL],
    ['does not where all of it can be done again', [true, true], NORMAL],
    ['waits where some of it was promised to somebody', [true, false], FULL],
  ])('%s', async (_, repeats, expected) => {
    const directory = mkdtempSync(join(tmpdir(), 'tidegate-test-'))
    const database = openDatabase(serviceDatabaseOptions(join(directory, 'tidegate.db')))
    onTestFinished(() => {
      database.close()
      rmSync(directory, { recursive: true })
    })
    const synchronous = {
      name: 'test.synchronous',
      apply: () => Promise.resolve(database.pragma('synchronous', { simple: true })),
    }
    const connection = new WriteConnection(database, context, operationRegistry([synchronous]))
    const calling = (repeats: boolean) => ({ operation: 'test.synchronous', args: null, repeats })
    // After a commit of the other kind.
    await connection.execute([calling(expected === FULL)])
    const outcomes = await connection.execute(repeats.map(calling))
    expect(outcomes).toEqual(repeats.map(() => ({ ok: true, result: expected })))
  })
})
