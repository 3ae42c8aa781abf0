import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { postJson } from '../support/http-client.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate, untilLogged } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const POLICY = { 'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := true\n' }

test.each(['SIGINT', 'SIGQUIT'] as const)('%s ends the service in order', async (signal) => {
  const workspace = makeWorkspace(POLICY)
  const tidegate = await startTidegate({ workspace })
  expect(await tidegate.end(signal)).toBe(0)
  expect(tidegate.log()).toContainEqual(expect.objectContaining({ msg: 'shutting down', signal }))
  expect(tidegate.log().at(-1)).toMatchObject({ msg: 'shut down' })
  workspace.remove()
})

test('other signals are told and do nothing: none of them opens a debugger', async () => {
  const workspace = makeWorkspace(POLICY)
  const tidegate = await startTidegate({ workspace })
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
    process.kill(tidegate.pid, signal)
    await waitUntil(
      () => tidegate.log().find((line) => line['signal'] === signal),
      () => `${signal} is not told: ${tidegate.logText()}`,
    )
  }
  expect((await postJson(tidegate.url, '/v1/data/app/allow', { input: {} })).text).toContain('true')
  expect(tidegate.logText()).not.toContain('Debugger')
  expect(await tidegate.end('SIGTERM')).toBe(0)
  workspace.remove()
})

test('SIGHUP and the command make all processes of the service read the configuration again', async () => {
  const workspace = makeWorkspace(POLICY)
  const tokenOf = (name: string) => ({
    ...{ name, roles: ['admin'] },
    sha256: createHash('sha256').update(name).digest('hex'),
  })
  const tidegate = await startTidegate({
    workspace,
    config: { server: { workers: 2 }, auth: { tokens: [tokenOf('one')] } },
  })
  await untilLogged(tidegate, ({ msg }) => msg === 'worker process serves')
  const file = join(workspace.path, 'tidegate.json')
  const allow = (name: string): void => {
    const config = JSON.parse(readFileSync(file, 'utf8')) as object
    writeFileSync(file, JSON.stringify({ ...config, auth: { tokens: [tokenOf(name)] } }))
  }
  /** Each request has a connection of its own, so both processes answer some. */
  const statusesFor = async (name: string): Promise<unknown> => {
    const requests = Array.from({ length: 24 }, () =>
      fetch(`${tidegate.url}/v1/data/app/allow`, {
        headers: { authorization: `Bearer ${name}`, connection: 'close' },
      }),
    )
    return [...new Set((await Promise.all(requests)).map(({ status }) => status))]
  }
  expect(await statusesFor('two')).toEqual([403])
  allow('two')
  process.kill(tidegate.pid, 'SIGHUP')
  const line = await untilLogged(tidegate, ({ msg }) => msg === 'configuration reloaded')
  expect(line).toMatchObject({ changed: ['auth.tokens'], origin: 'SIGHUP' })
  expect([await statusesFor('one'), await statusesFor('two')]).toEqual([[403], [200]])
  allow('three')
  workspace.write({ token: 'two' })
  const address = ['--url', tidegate.url, '--token-file', join(workspace.path, 'token')]
  const told = await runTidegate(['reload', ...address])
  expect(told).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^reloaded in \d+ ms:\n {2}auth\.tokens\n$/) as string,
  })
  expect([await statusesFor('two'), await statusesFor('three')]).toEqual([[403], [200]])
  writeFileSync(file, '{"auth": {')
  workspace.write({ token: 'three' })
  const refused = await runTidegate(['reload', ...address])
  expect(refused.exitCode).toBe(2)
  expect(await statusesFor('three')).toEqual([200])
  expect(await tidegate.end('SIGTERM')).toBe(0)
  workspace.remove()
})
