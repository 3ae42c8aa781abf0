import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { TreeCheck, versionOfTrees } from '../../../src/rego/loading/tree-check.js'
import { makeWorkspace } from '../../support/workspace.js'
import type { Workspace } from '../../support/workspace.js'
import { PATIENT } from '../../support/wait-until.js'

let workspace: Workspace
let check: TreeCheck | undefined
beforeEach(() => {
  workspace = makeWorkspace({ 'team/a.rego': 'package a' })
})
afterEach(() => {
  check?.stop()
  workspace.remove()
})

/** Starts a check of the files over a watch that covers the files accepted by `cover`. */
async function startCheck(cover: (paths: readonly string[]) => boolean) {
  const changed = vi.fn()
  const known = await versionOfTrees([workspace.path])
  const watch = { cover: (paths: readonly string[]) => Promise.resolve(cover(paths)) }
  check = new TreeCheck([workspace.path], watch, known, changed)
  const startedAt = performance.now()
  await check.start()
  return { changed, startedAt, check }
}

test('every directory that policies are in is watched, and no file of it', async () => {
  const covered: (readonly string[])[] = []
  const { changed } = await startCheck((paths) => {
    covered.push(paths)
    return covered.length === 1
  })
  const watched = covered.map((paths) => [...new Set(paths)])
  expect(watched).toEqual([
    [workspace.path, `${workspace.path}/team`],
    [workspace.path, `${workspace.path}/team`],
  ])
  expect(changed).not.toHaveBeenCalled()
})

test('what is saved after its directory was listed and before it was watched is found at once', async () => {
  let isFirst = true
  const { changed, startedAt } = await startCheck(() => {
    if (isFirst) workspace.write({ 'team/b.rego': 'package b' })
    const wasFirst = isFirst
    isFirst = false
    return wasFirst
  })
  expect(changed).toHaveBeenCalledTimes(1)
  expect(changed.mock.calls[0]?.[0]).toBeLessThan(startedAt)
})

test('a new directory is looked into as soon as somebody says that there may be one', async () => {
  const { changed, check } = await startCheck(() => false)
  workspace.write({ 'new/b.rego': 'package b' })
  check.lookSoon()
  await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(1), PATIENT)
})

test('what has been noted is no change', async () => {
  const { changed, check } = await startCheck(() => false)
  workspace.write({ 'new/b.rego': 'package b' })
  await check.note()
  await check.start()
  expect(changed).not.toHaveBeenCalled()
})

test('what cannot be listed leaves the watch as it is', async () => {
  const cover = vi.fn(() => false)
  const { changed, check } = await startCheck(cover)
  cover.mockClear()
  workspace.remove()
  await check.start()
  expect(changed).toHaveBeenCalledTimes(1)
  expect(cover).not.toHaveBeenCalled()
})
