import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, expect, test } from 'vitest'

import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { policyOfVersion, untilServed } from '../support/versioned-policy.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'
import { waitUntil } from '../support/wait-until.js'

let opened: { workspace: Workspace; tidegate: TidegateProcess } | undefined
afterEach(async () => {
  const exitCode = await opened?.tidegate.end('SIGTERM')
  opened?.workspace.remove()
  opened = undefined
  expect(exitCode).toBe(0)
})

async function serve(files: Readonly<Record<string, string>>, directory = 'policies') {
  const workspace = makeWorkspace(files)
  const at = (...names: string[]): string => join(workspace.path, ...names)
  if (directory === 'current') symlinkSync('one', at('current'))
  const tidegate = await startTidegate({ workspace, directories: [at(directory)], args: ['--watch'] })
  opened = { workspace, tidegate }
  return { workspace, tidegate, at }
}

async function untilLogged(tidegate: TidegateProcess, text: string): Promise<void> {
  await waitUntil(
    () => (tidegate.logText().includes(text) ? true : undefined),
    () => `"${text}" is not in the log: ${tidegate.logText()}`,
  )
}

test('a link to itself is reported, ends nothing, and is forgotten once it is gone', async () => {
  const { workspace, tidegate, at } = await serve({ 'policies/app.rego': policyOfVersion(1) })
  symlinkSync('loop', at('policies', 'loop'))
  workspace.write({ 'policies/app.rego': policyOfVersion(2) })
  await untilLogged(tidegate, 'ELOOP')
  await untilServed(tidegate, 1)
  rmSync(at('policies', 'loop'))
  await untilServed(tidegate, 2)
})

test('links that lead back to a directory above them are refused, not followed without end', async () => {
  const { workspace, tidegate, at } = await serve({ 'policies/app.rego': policyOfVersion(1) })
  mkdirSync(at('policies', 'below'))
  symlinkSync('..', at('policies', 'below', 'a'))
  symlinkSync('..', at('policies', 'below', 'b'))
  workspace.write({ 'policies/app.rego': policyOfVersion(2) })
  await untilLogged(tidegate, 'is a link to a directory above it')
  await untilServed(tidegate, 1)
})

test('a pipe with the name of a policy is reported, and does not block later files', async () => {
  const { workspace, tidegate, at } = await serve({ 'policies/app.rego': policyOfVersion(1) })
  execFileSync('mkfifo', [at('policies', 'pipe.rego')])
  await untilLogged(tidegate, 'pipe.rego is neither a file nor a directory')
  rmSync(at('policies', 'pipe.rego'))
  workspace.write({ 'policies/app.rego': policyOfVersion(2) })
  await untilServed(tidegate, 2)
})

test('a link that changes to another directory is followed, including later saves there', async () => {
  const { workspace, tidegate, at } = await serve(
    { 'one/app.rego': policyOfVersion(1), 'two/app.rego': policyOfVersion(2) },
    'current',
  )
  symlinkSync('two', at('next'))
  renameSync(at('next'), at('current'))
  await untilServed(tidegate, 2)
  workspace.write({ 'two/app.rego': policyOfVersion(3) })
  await untilServed(tidegate, 3)
})

test('a file of the same size and time in the place of another is read', async () => {
  const { tidegate, at } = await serve({
    'policies/app.rego': policyOfVersion(1),
    'app.rego': policyOfVersion(2),
  })
  const time = new Date('2026-01-01T00:00:00Z')
  for (const name of [at('policies', 'app.rego'), at('app.rego')]) utimesSync(name, time, time)
  await untilServed(tidegate, 1)
  renameSync(at('app.rego'), at('policies', 'app.rego'))
  await untilServed(tidegate, 2)
})
