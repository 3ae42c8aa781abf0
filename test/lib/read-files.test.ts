import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, expect, test } from 'vitest'

import { readEntries, readWhole, statOf, waitForFiles } from '../../src/lib/read-files.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({ 'a.txt': 'é', 'folder/b.txt': '' })
afterAll(workspace.remove)

async function readAll(): Promise<unknown> {
  const file = join(workspace.path, 'a.txt')
  const entries = await readEntries(workspace.path)
  return {
    text: (await readWhole(file)).toString(),
    size: (await statOf(file)).size,
    entries: entries.map((entry) => `${entry.name} ${entry.isDirectory()}`).sort(),
    failures: await Promise.allSettled([readWhole, readEntries, statOf].map((read) => read(join(file, 'x')))),
  }
}

test('synchronous and asynchronous reading have the same results and errors', async () => {
  mkdirSync(join(workspace.path, 'empty'))
  const handedOver = await readAll()
  expect(handedOver).toMatchObject({
    text: 'é',
    size: 2,
    entries: ['a.txt false', 'empty true', 'folder true'],
  })

  waitForFiles()
  expect(await readAll()).toEqual(handedOver)
})
