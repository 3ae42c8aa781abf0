import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'

import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { findOpa } from '../../../src/rego/opa/find-opa.js'
import type { OpaProgram } from '../../../src/rego/opa/find-opa.js'
import { runOffline } from '../../../src/rego/opa/run-offline.js'
import { makeWorkspace } from '../../support/workspace.js'

const LATER = process.env['TEST_OPA_1']

/** Counts the requests to an address of this machine. */
async function countRequests(): Promise<{ readonly url: string; readonly count: () => number }> {
  let requests = 0
  const server = createServer((_, response) => {
    requests++
    response.end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, count: () => requests }
}

describe.each<[string, string | undefined]>([
  ['the bundled opa', undefined],
  ...(LATER === undefined ? [] : [['a later opa', LATER] satisfies [string, string]]),
])('a policy under %s', (_, named) => {
  let opa: OpaProgram
  beforeAll(async () => {
    opa = await findOpa({ named, env: {} })
  })

  async function run(command: 'check' | 'eval' | 'test', rego: string, flags: readonly string[] = []) {
    const { path, remove } = makeWorkspace({ 'a.rego': `package a\nimport rego.v1\n${rego}\n` })
    onTestFinished(remove)
    const { exitCode, stdout, stderr } = await runOffline(
      opa,
      { command, flags: ['--bundle', '.', ...flags] },
      { cwd: path },
    )
    return { exitCode, output: stdout + stderr }
  }

  test('reads no variable of this process', async () => {
    vi.stubEnv('TIDEGATE_TEST_VARIABLE', 'x')
    onTestFinished(() => void vi.unstubAllEnvs())
    const rule = (name: string) => `test_none if { not opa.runtime().env.${name} }`
    for (const name of ['TIDEGATE_TEST_VARIABLE', 'PATH', 'HOME'])
      expect(await run('test', rule(name)), name).toMatchObject({ exitCode: 0 })
  })

  test('reaches no host by http.send', async () => {
    const { url, count } = await countRequests()
    const { exitCode } = await run('test', `test_it if http.send({"method": "GET", "url": "${url}"})`)
    expect(exitCode).not.toBe(0)
    expect(count()).toBe(0)
  })

  test('looks up no address', async () => {
    expect((await run('test', 'test_it if net.lookup_ip_addr("localhost")')).exitCode).not.toBe(0)
  })

  test('can replace http.send', async () => {
    const rego =
      'test_it if { r := http.send({}) with http.send as {"status_code": 200}; r.status_code == 200 }'
    expect(await run('test', rego)).toMatchObject({ exitCode: 0 })
  })

  test.each(['check', 'test'] as const)('loads no schema of another host in opa %s', async (command) => {
    const { url, count } = await countRequests()
    const schema = `# METADATA\n# schemas:\n#   - input: {"$ref": "${url}/s.json"}\nx if input.a == 1`
    const { exitCode, output } = await run(command, schema)
    expect(exitCode).not.toBe(0)
    expect(output).toContain('remote reference loading disabled')
    expect(count()).toBe(0)
  })

  test.each(['json.match_schema({}, {"$ref": URL})', 'json.verify_schema({"$ref": URL})'])(
    'reaches no host by %s in opa test, and opa eval refuses the call',
    async (call) => {
      const { url, count } = await countRequests()
      const rule = `test_it if ${call.replace('URL', `"${url}/s.json"`)}`
      const tested = await run('test', rule)
      if (named === undefined)
        expect(tested.output).toContain('Install a newer one with tidegate opa install')
      const evaluated = await run('eval', rule, ['data.a.test_it'])
      expect(evaluated.exitCode).not.toBe(0)
      expect(evaluated.output).toContain('it would load each $ref from hosts and files')
      expect(count()).toBe(0)
    },
  )

  if (named !== undefined)
    test('can call the same built-ins with schemas of its own', async () => {
      const schema =
        '{"definitions": {"n": {"type": "number"}}, "properties": {"n": {"$ref": "#/definitions/n"}}}'
      expect(await run('test', `test_it if json.match_schema({"n": 1}, ${schema})[0]`)).toMatchObject({
        exitCode: 0,
      })
    })
})
