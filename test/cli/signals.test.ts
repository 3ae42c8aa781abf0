import { expect, test } from 'vitest'

import { postJson } from '../support/http-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const POLICY = { 'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := true\n' }

test.each(['SIGINT', 'SIGQUIT', 'SIGHUP'] as const)('%s ends the service in order', async (signal) => {
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
