import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'

import { afterEach, expect, test, vi } from 'vitest'

import { DirectoryWatch } from '../../../src/pdp/loading/directory-watch.js'
import { makeWorkspace } from '../../support/workspace.js'

const watches: DirectoryWatch[] = []
afterEach(async () => {
  for (const one of watches.splice(0)) await one.close()
})

async function watchIn(root: string): Promise<{ watch: DirectoryWatch; changed: ReturnType<typeof vi.fn> }> {
  const changed = vi.fn()
  const watch = new DirectoryWatch([root], { changed, unwatched: () => undefined })
  watches.push(watch)
  await watch.ready()
  return { watch, changed }
}

test('what is saved in a directory that a link above leads to now is told once the watch is mended', async () => {
  const { path } = makeWorkspace({ 'one/policies/a.rego': 'package a', 'two/policies/a.rego': 'package a' })
  symlinkSync('one', `${path}/current`)
  const { watch, changed } = await watchIn(`${path}/current/policies`)
  symlinkSync('two', `${path}/next`)
  renameSync(`${path}/next`, `${path}/current`)
  watch.mend()
  await watch.ready()
  changed.mockClear()
  writeFileSync(`${path}/two/policies/a.rego`, 'package b')
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), { timeout: 5000 })
})

test('a directory that was taken away is watched again once it is back, and is told to be', async () => {
  const { path } = makeWorkspace({ 'policies/a.rego': 'package a' })
  const { watch, changed } = await watchIn(`${path}/policies`)
  renameSync(`${path}/policies`, `${path}/gone`)
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), { timeout: 5000 })
  expect(watch.findReturned()).toBe(false)
  mkdirSync(`${path}/policies`)
  await vi.waitFor(() => expect(watch.findReturned()).toBe(true), { timeout: 5000 })
  await watch.ready()
  changed.mockClear()
  writeFileSync(`${path}/policies/b.rego`, 'package b')
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), { timeout: 5000 })
})
