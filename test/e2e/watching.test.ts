import { cpSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import { policyOfVersion, untilServed } from '../support/versioned-policy.js'
import { makeWorkspace } from '../support/workspace.js'
import { waitUntil } from '../support/wait-until.js'

describe('watched files', () => {
  const workspace = makeWorkspace()
  afterAll(workspace.remove)

  test('a directory that was taken away serves on, and its next content too once it is back', async () => {
    workspace.write({ 'policies/app.rego': policyOfVersion(1) })
    const tidegate = await startTidegate({ workspace, args: ['--watch'] })
    renameSync(join(workspace.path, 'policies'), join(workspace.path, 'away'))
    await waitUntil(
      () => tidegate.log().find(({ level }) => level === 'error'),
      () => `nothing was noticed: ${tidegate.logText()}`,
    )
    await untilServed(tidegate, 1)
    renameSync(join(workspace.path, 'away'), join(workspace.path, 'policies'))
    await waitUntil(
      () => tidegate.log().filter(({ msg }) => msg === 'policies loaded')[1],
      () => `not loaded again: ${tidegate.logText()}`,
    )
    workspace.write({ 'policies/app.rego': policyOfVersion(2) })
    await untilServed(tidegate, 2)
    await tidegate.end('SIGTERM')
  })

  test('a bundle named by a relative path is loaded again when it is replaced', async () => {
    const build = async (version: number): Promise<string> => {
      workspace.write({ [`v${version}/app.rego`]: policyOfVersion(version) })
      const output = join(workspace.path, `v${version}.tar.gz`)
      const run = await runTidegate(['build', join(workspace.path, `v${version}`), '-o', output])
      expect(run.exitCode).toBe(0)
      return output
    }
    const served = join(workspace.path, 'served.tar.gz')
    cpSync(await build(3), served)
    const args = ['--bundle', './served.tar.gz', '--watch']
    const tidegate = await startTidegate({ workspace, directories: [], args })
    await untilServed(tidegate, 3)
    cpSync(await build(4), served)
    await untilServed(tidegate, 4)
    await tidegate.end('SIGTERM')
  })
})
