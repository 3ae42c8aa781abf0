import { afterAll, beforeAll, expect, test } from 'vitest'

import { startBundleServer } from '../support/bundle-server.js'
import type { BundleServer } from '../support/bundle-server.js'
import { packFiles } from '../support/make-bundle.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace()
let server: BundleServer
let tidegate: TidegateProcess
beforeAll(async () => {
  server = await startBundleServer()
  server.publish('main', await bundleOf('1', 'x := 1'))
  const sources = [{ name: 'main', type: 'http', url: server.urlOf('main'), longPollSeconds: 0 }]
  tidegate = await startTidegate({ workspace, directories: [], config: { policies: { sources } } })
})
afterAll(async () => {
  await tidegate.end('SIGTERM')
  await server.close()
  workspace.remove()
})

function bundleOf(revision: string, rule: string): Promise<Buffer> {
  const manifest = JSON.stringify({ revision, roots: ['app'] })
  return packFiles({ '.manifest': manifest, 'app.rego': `package app\nimport rego.v1\n${rule}\n` })
}

const run = (...args: readonly string[]) => runTidegate(['policies', ...args, '--url', tidegate.url])

test('the sources are a table for people and JSON for scripts', async () => {
  const { exitCode, stdout } = await run('sources')
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/^revision 1 since /)
  expect(stdout).toMatch(/^source +revision +since +reached +state +problem$/m)
  expect(stdout).toMatch(/^main +1 .* current$/m)
  const json = await run('sources', '--format', 'json')
  expect(JSON.parse(json.stdout)).toMatchObject({ revision: '1', sources: [{ name: 'main', revision: '1' }] })
})

test('a refresh loads the new revision, or shows the mistake and exits with 1', async () => {
  server.publish('main', await bundleOf('2', 'x := 2'))
  const fine = await run('refresh')
  expect([fine.exitCode, fine.stdout]).toEqual([0, expect.stringMatching(/^revision 2 since /)])
  server.publish('main', await bundleOf('3', 'x := undefined_rule'))
  const failed = await run('refresh')
  expect(failed.exitCode).toBe(1)
  expect(failed.stdout).toMatch(/^main +2 .* failed /m)
  expect(failed.stdout).toMatch(/^main\/app\.rego:3:\d+: /m)
})

test('mistakes in directories are shown with file, row and column, also by unpin', async () => {
  const files = makeWorkspace()
  const write = (rule: string): void => {
    files.write({ 'policies/team/app.rego': `package app\n\nimport rego.v1\n\n${rule}\n` })
  }
  write('x := 1')
  const served = await startTidegate({ workspace: files })
  const call = (...args: readonly string[]) => runTidegate(['policies', ...args, '--url', served.url])
  const place = /^team\/app\.rego:5:6: /m
  try {
    const { revision } = JSON.parse((await call('sources', '--format', 'json')).stdout) as {
      revision: string
    }
    write('x := undefined_rule')
    for (const command of ['refresh', 'sources']) {
      const { exitCode, stdout } = await call(command)
      expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/^not loaded: /m)])
      expect(stdout).toMatch(place)
    }
    expect((await call('pin', revision)).exitCode).toBe(0)
    const failed = await call('unpin')
    expect([failed.exitCode, failed.stderr]).toEqual([2, expect.stringMatching(place)])
    expect(failed.stderr).not.toContain(files.path)
    const { stdout } = await call('unpin', '--format', 'json')
    expect(JSON.parse(stdout)).toMatchObject({
      errors: [{ location: { file: 'team/app.rego', row: 5, col: 6 } }],
    })
  } finally {
    await served.end('SIGTERM')
    files.remove()
  }
})
