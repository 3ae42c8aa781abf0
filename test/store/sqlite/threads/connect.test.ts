import { expect, test } from 'vitest'

import type { ReadOperation } from '../../../../src/store/ports/readers.js'
import { operationRegistry } from '../../../../src/store/ports/operation.js'
import { openReader } from '../../../../src/store/sqlite/threads/connect.js'
import { useSqliteStore } from '../../../support/service-store.js'

const open = useSqliteStore()
const countGates: ReadOperation<undefined, number> = {
  name: 'test.count-gates',
  apply: async ({ gates }) => {
    await new Promise((resolve) => setImmediate(resolve))
    return (await gates.listGates()).length
  },
}

test('a reader that is closed finishes what it was asked before', async () => {
  const { dataDir } = await open()
  const { reader, close } = openReader(dataDir, operationRegistry([countGates]))
  const counts = [reader.run(countGates, undefined), reader.run(countGates, undefined)]
  await close()
  expect(await Promise.all(counts)).toEqual([0, 0])
})
