import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'

import { newerOpa } from '../support/compilers.js'
import { ask, postJson } from '../support/http-client.js'
import { startOpa } from '../support/opa-server.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({
  'policies/a.rego': 'package a\nimport rego.v1\nallow := true\n',
  'policies/data.json': '{}',
  token: 'sidecar-token',
})
const { path: folder } = workspace
afterAll(workspace.remove)
const running: TidegateProcess[] = []
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.end('SIGTERM')
})
const opa1 = newerOpa()
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const TOKENS = [
  { name: 'sidecar', roles: ['instance'], sha256: sha256('sidecar-token') },
  { name: 'eve', roles: ['auditor'], sha256: sha256('eve-token') },
]
const asEve = { authorization: 'Bearer eve-token' }
const asSidecar = { authorization: 'Bearer sidecar-token' }
let made = 0

async function serve(
  config: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  args: readonly string[] = [],
  directories = [join(folder, 'policies')],
): Promise<TidegateProcess> {
  const service = await startTidegate({ workspace, directories, dataDir: `data-${made++}`, config, args })
  running.push(service)
  return service
}

const central = () => serve({ auth: { tokens: TOKENS }, policies: { publish: { name: 'main' } } })

const Fleet = z.object({
  instances: z.array(
    z.looseObject({
      id: z.string(),
      type: z.string(),
      health: z.string(),
      labels: z.record(z.string(), z.string()),
      bundles: z.array(z.looseObject({ name: z.string(), revision: z.string().optional() })),
    }),
  ),
})
type Instances = z.output<typeof Fleet>['instances']

async function fleetOf(at: TidegateProcess): Promise<Instances> {
  const { text } = await ask(at.url, { path: '/fleet', headers: asEve })
  return Fleet.parse(JSON.parse(text)).instances
}

async function untilReported(at: TidegateProcess, isDone: (all: Instances) => boolean): Promise<Instances> {
  return await waitUntil(
    async () => {
      const all = await fleetOf(at)
      return isDone(all) ? all : undefined
    },
    () => `the fleet is not complete: ${at.logText()}`,
  )
}

describe('a fleet', () => {
  test('has the services that upload their status, with revision, last decision and health', async () => {
    const at = await central()
    const credentials = { type: 'bearer', token: { file: join(folder, 'token') } }
    const edge = await serve(
      {
        policies: { sources: [{ name: 'main', type: 'http', url: `${at.url}/bundles/main`, credentials }] },
        status: { url: at.url, credentials, intervalSeconds: 1, labels: { region: 'eu' } },
      },
      [],
      [],
    )
    await postJson(edge.url, '/v1/data/a/allow', {})
    const all = await untilReported(at, (instances) => instances.some((one) => 'lastDecisionAt' in one))
    expect(all).toHaveLength(2)
    const [reported] = all.filter(({ labels }) => labels['region'] === 'eu')
    const [own] = all.filter(({ labels }) => labels['region'] === undefined)
    expect(reported).toMatchObject({ type: 'tidegate', health: 'ok', reportedBy: 'sidecar' })
    expect(reported?.bundles).toMatchObject([
      { name: 'main', revision: own?.bundles[0]?.revision, lagSeconds: 0 },
    ])
    writeFileSync(join(folder, 'eve'), 'eve-token')
    const shown = await runTidegate(['fleet', '--url', at.url, '--token-file', join(folder, 'eve')])
    expect(shown).toMatchObject({ exitCode: 0, stderr: '' })
    expect(shown.stdout.split('\n')).toHaveLength(4)
  })

  test.skipIf(opa1 === undefined)('has the OPAs that upload their status', async () => {
    const at = await central()
    const config = {
      services: { center: { url: at.url, credentials: { bearer: { token: 'sidecar-token' } } } },
      bundles: {
        main: { resource: 'bundles/main', polling: { min_delay_seconds: 1, max_delay_seconds: 1 } },
      },
      status: { service: 'center', partition_name: 'edge' },
      labels: { app: 'checkout' },
    }
    writeFileSync(join(folder, 'opa.json'), JSON.stringify(config))
    const opa = await startOpa(['--config-file', join(folder, 'opa.json')], opa1)
    try {
      const all = await untilReported(at, (instances) =>
        instances.some(
          ({ type, bundles, health }) =>
            // OPA may report its bundle before it reports that it is ready.
            type === 'opa' && bundles[0]?.revision !== undefined && health === 'ok',
        ),
      )
      expect(all.find(({ type }) => type === 'opa')).toMatchObject({
        ...{ health: 'ok', labels: { app: 'checkout', partition: 'edge' } },
        bundles: [{ name: 'main', lagSeconds: 0 }],
      })
    } finally {
      await opa.stop()
    }
  })

  test('gets the status of a service with a configuration of OPA', async () => {
    const at = await central()
    const file = join(folder, 'opa-status.json')
    const credentials = { bearer: { token: 'sidecar-token' } }
    writeFileSync(
      file,
      JSON.stringify({
        services: { center: { url: at.url, credentials } },
        status: { partition_name: 'edge' },
      }),
    )
    await serve({ policies: { opaConfig: file }, status: { intervalSeconds: 1 } })
    const all = await untilReported(at, (instances) => instances.length === 2)
    expect(all.some(({ labels }) => labels['partition'] === 'edge')).toBe(true)
  })

  test('accepts a status from the role instance only, and refuses one without an id', async () => {
    const at = await central()
    const status = (headers: Readonly<Record<string, string>>, body: object) =>
      postJson(at.url, '/status', body, headers)
    expect((await status({}, { labels: { id: 'x' } })).status).toBe(401)
    expect((await status(asEve, { labels: { id: 'x' } })).status).toBe(403)
    expect((await status(asSidecar, { labels: {} })).status).toBe(400)
    for (const id of ['a\0b', 'a\nb', '\u009b']) {
      const refused = await status(asSidecar, { labels: { id } })
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('control characters')])
    }
    expect((await status(asSidecar, { labels: { id: 'x' } })).status).toBe(200)
    expect((await fleetOf(at)).map(({ id }) => id)).toContain('x')
  })
})
