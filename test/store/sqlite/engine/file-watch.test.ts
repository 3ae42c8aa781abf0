import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { FileWatch } from '../../../../src/store/sqlite/engine/file-watch.js'
import { keptDatabase } from '../../../../src/store/sqlite/engine/kept-files.js'
import { serviceDatabaseOptions } from '../../../../src/store/sqlite/engine/service-file.js'
import { useSqliteStore } from '../../../support/service-store.js'

const open = useSqliteStore()

async function watched() {
  const { dataDir } = await open()
  const path = join(dataDir, 'tidegate.db')
  const told: (string | undefined)[] = []
  const watch = await FileWatch.open({
    path,
    applicationId: serviceDatabaseOptions(path).applicationId,
    files: keptDatabase(path),
    changed: (problem) => told.push(problem),
  })
  onTestFinished(() => watch.close())
  return { path, watch, told }
}

test('a file that is lost is reported once, and once more when it is back', async () => {
  const { path, watch, told } = await watched()
  await watch.check()
  expect([told, watch.problem]).toEqual([[], undefined])
  renameSync(path, `${path}.away`)
  await watch.check()
  await watch.check()
  expect(told).toHaveLength(1)
  expect(watch.problem).toBe(told[0])
  expect(watch.problem).toContain('tidegate.db')
  renameSync(`${path}.away`, path)
  await watch.check()
  await watch.check()
  expect(told).toEqual([told[0], undefined])
  expect(watch.problem).toBeUndefined()
})

test('a file that is overwritten in place is reported as such', async () => {
  const { path, watch, told } = await watched()
  writeFileSync(path, 'x'.repeat(70_000), { flag: 'r+' })
  await watch.check()
  expect(watch.overwritten).toContain('was overwritten or emptied')
  expect(told).toEqual([watch.overwritten])
})
