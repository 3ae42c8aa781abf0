import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { findLost, keptFile, requireKept } from '../../../../src/store/sqlite/engine/kept-files.js'

function makeLog(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-kept-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'tidegate.db-wal')
  writeFileSync(path, 'x'.repeat(1000))
  return path
}

test('a log that grows while it is looked at was not cut', async () => {
  const path = makeLog()
  const files = keptFile(path)
  for (let round = 0; round < 50; round += 1) {
    const looking = findLost(files)
    appendFileSync(path, 'x'.repeat(1000))
    expect(() => requireKept(files)).not.toThrow()
    expect(await looking).toBeUndefined()
  }
})

test('a log that is shorter than it was is reported', async () => {
  const path = makeLog()
  const files = keptFile(path)
  expect(await findLost(files)).toBeUndefined()
  truncateSync(path, 500)
  expect(await findLost(files)).toContain('tidegate.db-wal was truncated while it was open')
  expect(() => requireKept(files)).toThrow('was truncated while it was open')
})
