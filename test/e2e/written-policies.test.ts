import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'

import { newerOpa, olderOpa } from '../support/compilers.js'
import { ask, objectOf } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { packFiles } from '../support/make-bundle.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { ServeSettings, TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

const APP = 'package app\n\nimport rego.v1\n\nallow if data.users[input.user]\n'
const TOKENS = { admin: 'admin-token-77f0', orchestrator: 'orchestrator-token-18ab' }
const tokens = Object.entries(TOKENS).map(([role, token]) => ({
  name: `the ${role}`,
  roles: [role],
  sha256: createHash('sha256').update(token).digest('hex'),
}))

let workspace: Workspace
let tidegate: TidegateProcess

afterEach(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

async function start(config: ServeSettings['config'] = {}): Promise<void> {
  workspace = makeWorkspace({ 'policies/app.rego': APP, 'policies/data.json': '{"users":{"ana":true}}' })
  await serve(config)
}

async function serve(config: ServeSettings['config'] = {}): Promise<void> {
  const policies = { writable: true, opa: newerOpa() ?? olderOpa(), ...config['policies'] }
  tidegate = await startTidegate({ workspace, config: { ...config, policies } })
}

function send(method: string, path: string, body?: string, token?: string): Promise<Answered> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return ask(tidegate.url, { method, path, body, headers })
}

async function isAllowed(user: string, token?: string): Promise<unknown> {
  const answer = await send('POST', '/v1/data/app/allow', JSON.stringify({ input: { user } }), token)
  return objectOf(answer)['result']
}

const CHANGES = [
  ['PUT', '/v1/policies/new', 'package new'],
  ['GET', '/v1/policies', undefined],
  ['GET', '/v1/policies/app.rego', undefined],
  ['DELETE', '/v1/policies/app.rego', undefined],
  ['PUT', '/v1/data/users/ben', 'true'],
  ['PATCH', '/v1/data', '[{"op":"remove","path":"/users"}]'],
  ['DELETE', '/v1/data/users', undefined],
] as const

describe('policies and data', () => {
  test('have limits that no request passes, and a cheap decision is made after each', async () => {
    await start()
    const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    const operation = JSON.stringify({ op: 'add', path: '/x', value: 1 })
    for (const [method, path, body, status] of [
      ['PUT', '/v1/data/deep', deep(900), 204],
      ['PUT', '/v1/data/deep', deep(1001), 400],
      ['PUT', '/v1/data/deep', deep(9999), 400],
      ['PUT', `/v1/data${'/a'.repeat(900)}`, '1', 204],
      ['PUT', `/v1/data${'/b'.repeat(7000)}`, '1', 400],
      ['PATCH', '/v1/data', `[{"op":"add","path":"${'/c'.repeat(400_000)}","value":1}]`, 400],
      ['PATCH', '/v1/data', `[${Array.from({ length: 10_001 }, () => operation).join(',')}]`, 413],
      ['PUT', '/v1/data/large', `"${'x'.repeat(1024 * 1024)}"`, 413],
      ['PUT', '/v1/policies/long', `[${'1,'.repeat(100_000)}`, 400],
      ['PUT', '/v1/policies/blank', '\n'.repeat(1_000_000), 400],
      ['PUT', '/v1/policies/open', `package a\n\nx := "${'\\"'.repeat(500_000)}`, 400],
      ['PUT', '/v1/policies/nested', `package a\n\nx := ${'$"{'.repeat(100)}`, 400],
    ] as const) {
      const answer = await send(method, path, body)
      expect([method, path.slice(0, 20), answer.status]).toEqual([method, path.slice(0, 20), status])
      expect(await isAllowed('ana')).toBe(true)
    }
  })

  test('cannot be changed unless the configuration says so, and the error names the key', async () => {
    await start({ policies: { writable: false } })
    for (const [method, path, body] of CHANGES) {
      const answer = await send(method, path, body)
      expect([method, path, answer.status]).toEqual([method, path, 403])
      expect(objectOf(answer)).toMatchObject({ code: 'policies_not_writable' })
      expect(answer.text).toContain('policies.writable: true')
    }
    expect(await isAllowed('ana')).toBe(true)
  })

  test('are changed by admins only', async () => {
    await start({ auth: { tokens } })
    for (const [method, path, body] of CHANGES) {
      expect((await send(method, path, body)).status).toBe(401)
      expect((await send(method, path, body, TOKENS.orchestrator)).status).toBe(403)
    }
    expect((await send('PUT', '/v1/data/users/ben', 'true', TOKENS.admin)).status).toBe(204)
    expect(await isAllowed('ben', TOKENS.orchestrator)).toBe(true)
  })

  test('are recorded in the audit trail with who changed them, and what', async () => {
    await start({ auth: { tokens } })
    const document = '{"ben":true}'
    await send('PUT', '/v1/data/users', document, TOKENS.admin)
    await send('PUT', '/v1/data/app/allow', 'true', TOKENS.admin)
    await send('PUT', '/v1/policies/team/a', 'package team', TOKENS.admin)
    await send('PUT', '/v1/policies/team/a', 'package team', TOKENS.admin)
    await send('DELETE', '/v1/policies/team/a', undefined, TOKENS.admin)
    const listed = objectOf(await send('GET', '/audit?source=admin', undefined, TOKENS.admin))
    const records = listed['records'] as { kind: string; user: string; seq: number }[]
    expect(records.map(({ kind, user }) => [kind, user])).toEqual([
      ['policy.deleted', 'the admin'],
      ['policy.put', 'the admin'],
      ['data.put', 'the admin'],
    ])
    const first = await send('GET', `/audit/${records[2]?.seq ?? 0}`, undefined, TOKENS.admin)
    expect(objectOf(first)['body']).toMatchObject({
      target: '/users',
      bytes: document.length,
      sha256: createHash('sha256').update(document).digest('hex'),
    })
  })

  test('that clients wrote are gone after a restart, when those of files serve again', async () => {
    await start()
    await send('PUT', '/v1/data/users', '{"ben":true}')
    await send('DELETE', '/v1/policies/app.rego')
    await tidegate.end('SIGTERM')
    await serve()
    expect([await isAllowed('ana'), await isAllowed('ben')]).toEqual([true, undefined])
  })

  test('that clients wrote are the same in all processes as soon as the client knows', async () => {
    await start({ server: { workers: 2 } })
    await waitUntil(
      () => tidegate.log().find(({ msg }) => msg === 'worker process serves'),
      () => tidegate.logText(),
    )
    for (const user of ['u1', 'u2', 'u3']) {
      expect((await send('PUT', `/v1/data/users/${user}`, 'true')).status).toBe(204)
      const seen = await Promise.all(
        Array.from({ length: 8 }, async () => {
          const answer = await fetch(`${tidegate.url}/v1/data/users/${user}`, {
            headers: { connection: 'close' },
          })
          return ((await answer.json()) as { result?: unknown }).result
        }),
      )
      expect(seen).toEqual(Array.from({ length: 8 }, () => true))
    }
  })

  test('that clients wrote stay when files are changed', async () => {
    await start({ policies: { watch: true } })
    await send('PUT', '/v1/data/users/ben', 'true')
    writeFileSync(join(workspace.path, 'policies', 'data.json'), '{"users":{"carla":true}}')
    await waitUntil(
      async () => ((await isAllowed('carla')) === true ? true : undefined),
      () => tidegate.logText(),
    )
    expect([await isAllowed('ana'), await isAllowed('ben')]).toEqual([undefined, true])
  })

  test('of a bundle cannot be changed, nor anything above or below its roots', async () => {
    workspace = makeWorkspace({
      'source/team/a.rego': 'package team.a\n\nimport rego.v1\n\nx := 1\n',
      'source/team/data.json': '{"names":["ana"]}',
      'policies/app.rego': APP,
    })
    const bundle = join(workspace.path, 'team.tar.gz')
    const program = newerOpa() ?? olderOpa() ?? ''
    const built = await runTidegate(
      ['build', join(workspace.path, 'source'), '--output', bundle, '--opa', program],
      {},
    )
    expect(built.exitCode, built.stderr).toBe(0)
    await serve({ policies: { bundles: [bundle] } })
    const owned = [
      ['PUT', '/v1/policies/mine', 'package team.a.b', 'path team/a/b is owned by bundle'],
      ['PUT', '/v1/policies/mine', 'package team', 'path team is owned by bundle'],
      ['PUT', '/v1/data/team/names', '[]', 'path team/names is owned by bundle'],
      ['DELETE', '/v1/data/team', undefined, 'path team is owned by bundle'],
      ['PATCH', '/v1/data/team', '[{"op":"add","path":"/names","value":1}]', 'path team/names is owned'],
      ['PUT', '/v1/data', '{}', "can't write to document root with bundle roots configured"],
    ] as const
    for (const [method, path, body, message] of owned) {
      const answer = await send(method, path, body)
      expect([method, path, answer.status, objectOf(answer)['message']]).toEqual([
        ...[method, path, 400],
        expect.stringContaining(message) as string,
      ])
    }
    expect((await send('PUT', '/v1/data/users', '{"ana":true}')).status).toBe(204)
    expect(await isAllowed('ana')).toBe(true)
  })

  test('of a bundle for the whole of data leave nothing to write', async () => {
    workspace = makeWorkspace()
    const bundle = join(workspace.path, 'all.tar.gz')
    writeFileSync(bundle, await packFiles({ 'data.json': '{"a":1}', '.manifest': '{"roots":[""]}' }))
    await serve({ policies: { directories: [], bundles: [bundle] } })
    const answer = await send('PUT', '/v1/data/b', '1')
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('all paths owned by bundle')])
  })
})
