import { chmodSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { inTemporaryDirectoryBelow, makeTemporaryDirectory } from '../../../src/lib/temporary-directory.js'
import {
  removeTemporaryFiles,
  temporaryFolderOf,
  temporaryFoldersOf,
} from '../../../src/main/files/temporary-folder.js'
import { makeWorkspace } from '../../support/workspace.js'
import type { Workspace } from '../../support/workspace.js'

let workspace: Workspace
let temporary: string

beforeEach(() => {
  workspace = makeWorkspace({ 'one/x': '', 'other/x': '', 'tmp/of-others': '' })
  temporary = join(workspace.path, 'tmp')
  vi.stubEnv('TMPDIR', temporary)
})

afterEach(() => {
  vi.unstubAllEnvs()
  workspace.remove()
})

function folderOf(name: string): string {
  return temporaryFolderOf(join(workspace.path, name)) ?? ''
}

test('the next service on a data directory removes the files of a killed one and no others', async () => {
  const left = await makeTemporaryDirectory(folderOf('one'))
  writeFileSync(join(left, 'bundle.tar.gz'), 'x')
  const used = await makeTemporaryDirectory(folderOf('other'))
  // By another path, as if mounted elsewhere.
  renameSync(join(workspace.path, 'one'), join(workspace.path, 'moved'))
  await removeTemporaryFiles(temporaryFoldersOf(join(workspace.path, 'moved')))
  expect(readdirSync(temporary).map((name) => join(temporary, name))).toEqual(
    [join(temporary, 'of-others'), dirname(used)].sort(),
  )
  expect(readdirSync(dirname(used))).toHaveLength(1)
})

test('the folder is there only while something is in it, and is made again', async () => {
  const inside = await inTemporaryDirectoryBelow(folderOf('one'), (directory) => Promise.resolve(directory))
  expect(dirname(inside)).toBe(folderOf('one'))
  expect(readdirSync(temporary)).toEqual(['of-others'])
  await removeTemporaryFiles(temporaryFoldersOf(join(workspace.path, 'one')))
  const again = await inTemporaryDirectoryBelow(folderOf('one'), (directory) => Promise.resolve(directory))
  expect(dirname(again)).toBe(folderOf('one'))
})

test('a link, or a directory that others may write to, in its place is neither used nor removed', async () => {
  symlinkSync(join(workspace.path, 'other'), folderOf('one'))
  mkdirSync(folderOf('other'))
  // Not with `mkdir`, which applies the umask.
  chmodSync(folderOf('other'), 0o777)
  for (const name of ['one', 'other']) {
    await inTemporaryDirectoryBelow(folderOf(name), () => Promise.resolve())
    const made = await makeTemporaryDirectory(folderOf(name))
    expect(dirname(made)).toBe(temporary)
    await removeTemporaryFiles(temporaryFoldersOf(join(workspace.path, name)))
  }
  expect(readdirSync(join(workspace.path, 'other'))).toEqual(['x'])
  expect(readdirSync(temporary)).toHaveLength(5)
})

test('without a data directory temporary files are among those of the system', async () => {
  expect(temporaryFolderOf(join(workspace.path, 'none'))).toBeUndefined()
  expect(dirname(await makeTemporaryDirectory(undefined))).toBe(temporary)
  await removeTemporaryFiles(temporaryFoldersOf(join(workspace.path, 'none')))
})
