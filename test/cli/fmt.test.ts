import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, expect, test } from 'vitest'

import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({
  'policies/old.rego': 'package old\n\nallow {\n  input.x == 1 }\n',
  'policies/new.rego': 'package new\n\nreasons contains   "no" if input.x == 1\n',
  'policies/good_test.rego': 'package good_test\n\nimport rego.v1\n\ntest_x := true\n',
})
const { path: cwd } = workspace
afterAll(workspace.remove)

test('formats files of both versions, each as what it is, and leaves the others alone', async () => {
  const listed = await runTidegate(['fmt', '--list', '--fail'], { cwd })
  expect(listed.exitCode).toBe(1)
  expect(listed.stdout).toContain('policies/old.rego\n')
  expect(listed.stdout).toContain('policies/new.rego\n')
  expect(listed.stdout).not.toContain('good_test')
  expect(await runTidegate(['fmt', 'policies', '--write'], { cwd })).toMatchObject({
    exitCode: 0,
    stderr: '',
  })
  expect(readFileSync(join(cwd, 'policies/old.rego'), 'utf8')).toMatch(
    /^package old\n\nallow \{\n?.*input\.x == 1/,
  )
  expect(readFileSync(join(cwd, 'policies/new.rego'), 'utf8')).toContain('reasons contains "no" if')
  expect(await runTidegate(['fmt', '--list', '--fail'], { cwd })).toMatchObject({ exitCode: 0, stdout: '' })
})

test('goes through the directories in the order in which they are named', async () => {
  workspace.write({ 'b/p.rego': 'package b\n\na   := 1\n', 'a/p.rego': 'package a\n\na   := 1\n' })
  expect((await runTidegate(['fmt', '-l', 'b', 'a'], { cwd })).stdout).toBe('b/p.rego\na/p.rego\n')
  expect((await runTidegate(['fmt', '-l', 'a', 'b'], { cwd })).stdout).toBe('a/p.rego\nb/p.rego\n')
})

test('tells what does not parse by file, row and column', async () => {
  workspace.write({ 'broken/p.rego': 'package p\n\nallow if {\n' })
  const { exitCode, stderr } = await runTidegate(['fmt', 'broken'], { cwd })
  expect(exitCode).toBe(2)
  expect(stderr).toContain('broken/p.rego:')
})
