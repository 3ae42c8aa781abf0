import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { recordFiles } from '../../../src/cli/session/watched-files.js'
import { makeWorkspace } from '../../support/workspace.js'
import type { Workspace } from '../../support/workspace.js'

let workspace: Workspace
beforeEach(() => {
  workspace = makeWorkspace({ 'policies/a/one.rego': 'package one', 'input.json': '{}', 'other.json': '{}' })
  symlinkSync(join(workspace.path, 'other.json'), join(workspace.path, 'policies/linked.json'))
  // A symbolic link to a parent must not cause endless recursion.
  symlinkSync(workspace.path, join(workspace.path, 'policies/above'))
})
afterEach(() => workspace.remove())

const CHANGES: readonly (readonly [string, (path: string) => void])[] = [
  ['is written', (path) => writeFileSync(join(path, 'input.json'), '{"a":1}')],
  ['is written behind a link', (path) => writeFileSync(join(path, 'other.json'), '{"a":1}')],
  ['appears', (path) => writeFileSync(join(path, 'policies/a/two.rego'), 'package two')],
  ['is removed', (path) => rmSync(join(path, 'policies/a/one.rego'))],
  ['that was not there appears', (path) => mkdirSync(join(path, 'later'))],
]

test.each(CHANGES)('files have changed when one %s', async (_, change) => {
  const paths = ['policies', 'input.json', 'later'].map((name) => join(workspace.path, name))
  const files = await recordFiles(paths)
  expect(await files.haveChanged()).toBe(false)
  change(workspace.path)
  expect(await files.haveChanged()).toBe(true)
})
