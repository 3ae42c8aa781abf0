import { mkdirSync, symlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, expect, test } from 'vitest'

import { collectSources } from '../../../../src/rego/compile/collect-sources.js'
import { listSourceTree } from '../../../../src/rego/compile/files/list-source-files.js'
import { makeWorkspace } from '../../../support/workspace.js'

const workspace = makeWorkspace()
afterAll(workspace.remove)

test('a file that is too large to be read is named', async () => {
  const directory = workspace.write({ 'large/data.json': '{}' })
  truncateSync(join(directory, 'large/data.json'), 2 ** 31 + 1)
  const reading = collectSources([join(directory, 'large')], { includeTests: false })
  await expect(reading).rejects.toThrow(/large\/data\.json: File size \(2147483649\) is greater than 2 GiB$/)
})

test('links to files and directories are followed, and one that leads back above itself is refused', async () => {
  const root = join(workspace.path, 'links')
  workspace.write({ 'links/real/deep/x.rego': 'package x\n', 'links/other/y.rego': 'package y\n' })
  symlinkSync(join(root, 'real'), join(root, 'again'))
  symlinkSync(join(root, 'other/y.rego'), join(root, 'real/deep/z.rego'))
  const { sources: files } = await listSourceTree(root)
  expect(files.map(({ file }) => file.slice(root.length + 1))).toEqual([
    'again/deep/x.rego',
    'again/deep/z.rego',
    'other/y.rego',
    'real/deep/x.rego',
    'real/deep/z.rego',
  ])
  mkdirSync(join(root, 'real/deep/er'))
  symlinkSync(join(root, 'real'), join(root, 'real/deep/er/up'))
  await expect(listSourceTree(root)).rejects.toThrow(/is a link to a directory above it/)
})

test('all of a large folder is found, in the order of the names', async () => {
  const names = Array.from({ length: 150 }, (_, index) => `team${String(index).padStart(3, '0')}`)
  const large = makeWorkspace(
    Object.fromEntries(names.map((name) => [`${name}/policy.rego`, `package ${name}\n`])),
  )
  try {
    const { sources: found } = await listSourceTree(large.path)
    expect(found.map(({ file }) => file)).toEqual(names.map((name) => join(large.path, name, 'policy.rego')))
  } finally {
    large.remove()
  }
})
