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
  'parsing/p.rego': `package p

import rego.v1

written_for := rego.parse_module("m.rego", input.text)["package"].path[1].value
`,
  'parsing/p_test.rego': `package p_test

import rego.v1
import data.p

test_parsed if p.written_for == "shop" with input.text as "package shop"
`,
  'parsing.yaml': 'policies:\n  directories: [parsing]\n  parseModule:\n    enabled: true\n',
  'not-parsing.yaml': 'policies:\n  directories: [parsing]\n',
  'none.json': '{}',
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
    expect(elsewhere.stdout + elsewhere.stderr).toMatch(/http\.send is not available: add the hosts/)
  })
})

describe('policies that have modules parsed', () => {
  const evaluated = ['eval', '--entrypoint', 'p/written_for', '--input', '-', '--config']
  const stdin = '{"text":"package shop"}'

  it('are evaluated, also again with what was kept, and tested with the trees that OPA makes', async () => {
    const answered = { exitCode: 0, stdout: '{"result":"shop"}\n' }
    expect(await runTidegate([...evaluated, 'parsing.yaml'], { cwd, stdin })).toMatchObject(answered)
    const again = [...evaluated, 'parsing.yaml', '--nd-builtin-cache', 'none.json']
    expect(await runTidegate(again, { cwd, stdin })).toMatchObject(answered)
    const tested = await runTidegate(['test', '--config', 'parsing.yaml'], { cwd })
    expect(tested).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 passed') as unknown })
  })

  it('are not loaded where that is not wanted, by file, row and column, with what to set', async () => {
    const { exitCode, stderr } = await runTidegate([...evaluated, 'not-parsing.yaml'], { cwd, stdin })
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(
      /p\.rego:5:16: .*rego\.parse_module is not available: set policies\.parseModule\.enabled/,
    )
  })
})
