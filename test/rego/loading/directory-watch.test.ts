import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'

import { afterEach, expect, onTestFinished, test, vi } from 'vitest'

import { DirectoryWatch } from '../../../src/rego/loading/directory-watch.js'
import { makeWorkspace } from '../../support/workspace.js'
import { PATIENT } from '../../support/wait-until.js'

const watches: DirectoryWatch[] = []
afterEach(async () => {
  for (const one of watches.splice(0)) await one.close()
})

async function watchOver(root: string, ...below: readonly string[]) {
  const [changed, rearranged, unwatched] = [vi.fn(), vi.fn(), vi.fn()]
  const watch = new DirectoryWatch([root], { changed, rearranged, unwatched })
  watches.push(watch)
  const paths = [root, ...below]
  expect(await watch.cover(paths)).toBe(true)
  return { watch, paths, changed, rearranged, unwatched }
}

function workspaceOf(files: Readonly<Record<string, string>>): string {
  const { path, remove } = makeWorkspace(files)
  onTestFinished(remove)
  return path
}

test('what is saved in a directory that a link above leads to now is reported once it is watched anew', async () => {
  const path = workspaceOf({ 'one/policies/a.rego': 'package a', 'two/policies/a.rego': 'package a' })
  symlinkSync('one', `${path}/current`)
  const { watch, paths, changed } = await watchOver(`${path}/current/policies`)
  symlinkSync('two', `${path}/next`)
  renameSync(`${path}/next`, `${path}/current`)
  await watch.forget()
  expect(await watch.cover(paths)).toBe(true)
  changed.mockClear()
  writeFileSync(`${path}/two/policies/a.rego`, 'package b')
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), PATIENT)
})

test('a directory that was taken away is told, and what is saved there once it is back and covered', async () => {
  const path = workspaceOf({ 'policies/a.rego': 'package a' })
  const { watch, paths, changed } = await watchOver(`${path}/policies`)
  renameSync(`${path}/policies`, `${path}/gone`)
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), PATIENT)
  expect(await watch.cover(paths)).toBe(false)
  mkdirSync(`${path}/policies`)
  expect(await watch.cover(paths)).toBe(true)
  changed.mockClear()
  writeFileSync(`${path}/policies/b.rego`, 'package b')
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), PATIENT)
})

test('a directory that comes is told as one, and other files that come not at all', async () => {
  const path = workspaceOf({ 'policies/a.rego': 'package a' })
  const { changed, rearranged } = await watchOver(`${path}/policies`)
  for (const name of ['a.rego.new', 'notes.txt', '.a.swp']) writeFileSync(`${path}/policies/${name}`, '')
  mkdirSync(`${path}/policies/.git`)
  mkdirSync(`${path}/policies/node_modules`)
  mkdirSync(`${path}/policies/team`)
  await vi.waitFor(() => expect(rearranged).toHaveBeenCalled(), PATIENT)
  expect(rearranged).toHaveBeenCalledTimes(1)
  expect(changed).not.toHaveBeenCalled()
})

test('a directory in the place of another is watched where it is covered once more', async () => {
  const path = workspaceOf({ 'policies/team/below/notes.txt': '', 'other/below/notes.txt': '' })
  const below = [`${path}/policies/team`, `${path}/policies/team/below`]
  const { watch, paths, changed, rearranged } = await watchOver(`${path}/policies`, ...below)
  renameSync(`${path}/policies/team`, `${path}/team`)
  renameSync(`${path}/other`, `${path}/policies/team`)
  await vi.waitFor(() => expect(rearranged).toHaveBeenCalled(), PATIENT)
  expect(await watch.cover(paths)).toBe(true)
  writeFileSync(`${path}/policies/team/below/data.json`, '{}')
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), PATIENT)
})

test('a file that a link leads to is told when it is written where it is', async () => {
  const path = workspaceOf({ 'shared/real.txt': 'package a', 'policies/b.rego': 'package b' })
  symlinkSync(`${path}/shared/real.txt`, `${path}/policies/a.rego`)
  const { changed } = await watchOver(`${path}/policies`, `${path}/policies/a.rego`)
  writeFileSync(`${path}/shared/real.txt`, 'package c')
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), PATIENT)
})

test('nothing is told of a directory that is not covered any more', async () => {
  const path = workspaceOf({ 'policies/team/a.rego': 'package a' })
  const { watch, changed } = await watchOver(`${path}/policies`, `${path}/policies/team`)
  expect(await watch.cover([`${path}/policies`])).toBe(false)
  writeFileSync(`${path}/policies/team/a.rego`, 'package b')
  writeFileSync(`${path}/policies/data.json`, '{}')
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), PATIENT)
  changed.mockClear()
  rmSync(`${path}/policies/team/a.rego`)
  writeFileSync(`${path}/policies/last.rego`, '')
  // One call for the new file, and one for its contents.
  await vi.waitFor(() => expect(changed.mock.calls.length).toBeGreaterThan(0), PATIENT)
  expect(changed.mock.calls.length).toBeLessThanOrEqual(2)
})

test('what cannot be watched is reported once, and what is gone is not', async () => {
  const path = workspaceOf({ 'policies/a.rego': 'package a' })
  const { watch, unwatched } = await watchOver(`${path}/policies`)
  expect(await watch.cover([`${path}/policies`, `${path}/gone`, `${path}/policies/a.rego/below`])).toBe(false)
  expect(unwatched).not.toHaveBeenCalled()
  const tooLong = [`${path}/${'x'.repeat(5000)}`, `${path}/${'y'.repeat(5000)}`]
  expect(await watch.cover(tooLong)).toBe(false)
  expect(unwatched).toHaveBeenCalledTimes(1)
})
