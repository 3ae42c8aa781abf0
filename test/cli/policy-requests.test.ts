import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startReceiver } from '../support/receiver.js'
import type { Receiver } from '../support/receiver.js'
import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({
  'policies/p.rego':
    'package p\n\nimport rego.v1\n\nowner := http.send({"method": "get", "url": input.url}).body.owner\n',
  'policies/p_test.rego': `package p_test

import rego.v1
import data.p

test_mocked if p.owner == "ana" with http.send as {"body": {"owner": "ana"}} with input.url as "http://127.0.0.1:1"
`,
  'tidegate.yaml': 'policies:\n  requests:\n    allowedHosts: ["127.0.0.1"]\n',
  'other.yaml': 'policies:\n  directories: [policies]\n',
})
const { path: cwd } = workspace
afterAll(workspace.remove)

describe('policies that ask others', () => {
  let server: Receiver
  beforeAll(async () => {
    server = await startReceiver((response) => {
      response.setHeader('content-type', 'application/json')
      response.end('{"owner":"bob"}')
    })
  })
  afterAll(() => server.close())

  it('are evaluated with the answers', async () => {
    const args = ['eval', '--config', 'tidegate.yaml', '--entrypoint', 'p/owner', '--input', '-']
    const stdin = JSON.stringify({ url: server.url })
    expect(await runTidegate(args, { cwd, stdin })).toMatchObject({
      exitCode: 0,
      stdout: '{"result":"bob"}\n',
    })
  })

  it('are tested with what stands for the answers, also where nobody may be asked, which is told', async () => {
    const here = await runTidegate(['test', '--config', 'tidegate.yaml', 'policies'], { cwd })
    expect(here).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 passed') as unknown })
    const elsewhere = await runTidegate(['test', '--config', 'other.yaml', 'policies'], { cwd })
    expect(elsewhere.exitCode).toBe(0)
    expect(elsewhere.stdout + elsewhere.stderr).toMatch(/http\.send is not available: name the hosts/)
  })
})
