import { mkdirSync, symlinkSync, truncateSync, utimesSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, expect, test } from 'vitest'

import { collectSources } from '../../../../src/pdp/compile/collect-sources.js'
import { listSourceFiles } from '../../../../src/pdp/compile/files/list-source-files.js'
import { ReadRegoFiles } from '../../../../src/pdp/compile/files/read-rego-files.js'
import { makeWorkspace } from '../../../support/workspace.js'

const workspace = makeWorkspace()
afterAll(workspace.remove)

/** As a file system gives the same version to two texts of one length that follow each other quickly. */
const settled = (file: string, version = '1') => ({ file, version, isSettled: true })

test('a file that has been the same for a while is read once, and again as soon as it is another', async () => {
  const file = join(workspace.write({ 'a.rego': 'package a\n' }), 'a.rego')
  const files = new ReadRegoFiles()
  files.begin()
  const first = await files.read(settled(file))
  workspace.write({ 'a.rego': 'package b\n' })
  files.begin()
  expect(await files.read(settled(file))).toBe(first)
  expect((await files.read(settled(file, '2'))).file.text).toBe('package b\n')
})

test('a file that was changed just now is read each time: a second change may have the same time', async () => {
  const file = join(workspace.write({ 'fresh.rego': 'package a\n' }), 'fresh.rego')
  const files = new ReadRegoFiles()
  const read = async (): Promise<string | undefined> => {
    const { rego } = await collectSources([file], { includeTests: false }, files)
    return rego[0]?.text
  }
  expect(await read()).toBe('package a\n')
  workspace.write({ 'fresh.rego': 'package b\n' })
  expect(await read()).toBe('package b\n')
  // Whatever time it is given, the system keeps that of the change itself.
  utimesSync(file, new Date(0), new Date(0))
  workspace.write({ 'fresh.rego': 'package c\n' })
  utimesSync(file, new Date(0), new Date(0))
  expect(await read()).toBe('package c\n')
})

test('a file that is too large to be read is named', async () => {
  const directory = workspace.write({ 'large/data.json': '{}' })
  truncateSync(join(directory, 'large/data.json'), 2 ** 31 + 1)
  const reading = collectSources([join(directory, 'large')], { includeTests: false })
  await expect(reading).rejects.toThrow(/large\/data\.json: File size \(2147483649\) is greater than 2 GiB$/)
})

test('what is not read any more is forgotten', async () => {
  const file = join(workspace.write({ 'gone.rego': 'package a\n' }), 'gone.rego')
  const files = new ReadRegoFiles()
  files.begin()
  await files.read(settled(file))
  files.begin()
  files.begin()
  workspace.write({ 'gone.rego': 'package b\n' })
  expect((await files.read(settled(file))).file.text).toBe('package b\n')
})

test('links to files and directories are followed, and one that leads back above itself is refused', async () => {
  const root = join(workspace.path, 'links')
  workspace.write({ 'links/real/deep/x.rego': 'package x\n', 'links/other/y.rego': 'package y\n' })
  symlinkSync(join(root, 'real'), join(root, 'again'))
  symlinkSync(join(root, 'other/y.rego'), join(root, 'real/deep/z.rego'))
  const files = await listSourceFiles(root)
  expect(files.map(({ file }) => file.slice(root.length + 1))).toEqual([
    'again/deep/x.rego',
    'again/deep/z.rego',
    'other/y.rego',
    'real/deep/x.rego',
    'real/deep/z.rego',
  ])
  mkdirSync(join(root, 'real/deep/er'))
  symlinkSync(join(root, 'real'), join(root, 'real/deep/er/up'))
  await expect(listSourceFiles(root)).rejects.toThrow(/is a link to a directory above it/)
})

test('all of a large folder is found, in the order of the names', async () => {
  const names = Array.from({ length: 150 }, (_, index) => `team${String(index).padStart(3, '0')}`)
  const large = makeWorkspace(
    Object.fromEntries(names.map((name) => [`${name}/policy.rego`, `package ${name}\n`])),
  )
  try {
    const found = await listSourceFiles(large.path)
    expect(found.map(({ file }) => file)).toEqual(names.map((name) => join(large.path, name, 'policy.rego')))
  } finally {
    large.remove()
  }
})
