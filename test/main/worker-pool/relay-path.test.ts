import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'

import { removeTemporaryFiles, temporaryFoldersOf } from '../../../src/main/files/temporary-folder.js'
import { relayPathIn } from '../../../src/main/open-workers.js'
import { makeWorkspace } from '../../support/workspace.js'

afterEach(() => {
  vi.unstubAllEnvs()
})

const LONG = 'x'.repeat(100)

test('the socket is in the folder of the service', async () => {
  expect(await relayPathIn('/data/workers', '/data')).toEqual({
    path: '/data/workers/relay',
    ownFolder: undefined,
  })
})

test.each(['short', LONG])(
  'a path that would be cut lies elsewhere, be the one of temporary files long or not',
  async (name) => {
    const workspace = makeWorkspace()
    const temporary = join(workspace.path, name)
    mkdirSync(temporary)
    vi.stubEnv('TMPDIR', temporary)
    const { path, ownFolder = '' } = await relayPathIn(join('/data', LONG), workspace.path)
    expect(dirname(path)).toBe(ownFolder)
    expect(path.startsWith(temporary)).toBe(name === 'short')
    expect(path.length).toBeLessThanOrEqual(103)
    await removeTemporaryFiles(temporaryFoldersOf(workspace.path))
    expect(existsSync(dirname(ownFolder))).toBe(false)
    workspace.remove()
  },
)
