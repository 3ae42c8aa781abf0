import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { ask, objectOf, postJson } from '../support/http-client.js'
import { respondJson, startLoopbackServer } from '../support/loopback-server.js'
import type { LoopbackServer } from '../support/loopback-server.js'
import { passedDefinition, passedRegistration, thirtyPoints } from '../support/passed-analysis.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const STORM = 12

describe('analyses at the same time', () => {
  const workspace = makeWorkspace({
    'policies/release.rego': 'package release\n\nallow := true\n',
    'definitions/hanging.json': passedDefinition('silent'),
    'definitions/shop.json': passedDefinition('healthy'),
  })
  let server: LoopbackServer
  let tidegate: TidegateProcess

  beforeAll(async () => {
    server = await startLoopbackServer(({ url }, response) => {
      if (url.startsWith('/healthy')) respondJson(response, 200, thirtyPoints())
    })
    const source = (name: string): object => ({ name, type: 'prometheus', url: `${server.origin}/${name}` })
    tidegate = await startTidegate({
      workspace,
      config: {
        analysis: {
          definitions: `${workspace.path}/definitions`,
          sources: [source('silent'), source('healthy')],
        },
      },
    })
  })
  afterAll(async () => {
    await tidegate.end('SIGTERM')
    await server.close()
  })

  const register = async (application: string): Promise<number> => {
    const answer = await postJson(
      tidegate.url,
      '/autopilot/api/v5/registerCanary',
      passedRegistration(application),
    )
    return Number(objectOf(answer)['canaryId'])
  }
  const stateOf = async (id: number): Promise<unknown> => {
    const { status } = objectOf(await ask(tidegate.url, { path: `/autopilot/canaries/${id}` }))
    return (status as { readonly status: unknown }).status
  }
  const untilCompleted = (id: number): Promise<true> =>
    waitUntil(
      async () => ((await stateOf(id)) === 'COMPLETED' ? true : undefined),
      () => `analysis ${id} does not end: ${tidegate.logText()}`,
    )

  test('do not wait for one whose source hangs, were there several such', async () => {
    const hanging = await Promise.all(Array.from({ length: 6 }, () => register('hanging')))
    await waitUntil(
      () => server.seen.find(({ url }) => url.startsWith('/silent')),
      () => 'the silent source is not asked',
    )
    await untilCompleted(await register('shop'))
    for (const id of hanging) expect(await stateOf(id)).toBe('RUNNING')
  })

  test('of one application registered at any time are all judged', async () => {
    const ids = await Promise.all(Array.from({ length: STORM }, () => register('shop')))
    expect(new Set(ids).size).toBe(STORM)
    for (const id of ids) await untilCompleted(id)
    const { runs } = objectOf(await ask(tidegate.url, { path: '/analysis?application=shop&limit=100' }))
    const verdicts = (runs as { readonly verdict: string }[]).map(({ verdict }) => verdict)
    expect(verdicts).toEqual(Array<string>(STORM + 1).fill('Success'))
  })

  test('that are cancelled make room for others', async () => {
    const { runs } = objectOf(await ask(tidegate.url, { path: '/analysis?application=hanging&limit=100' }))
    for (const { id } of runs as { readonly id: number }[]) {
      expect((await postJson(tidegate.url, `/analysis/${id}/cancel`, {})).status).toBe(200)
      expect(await stateOf(id)).toBe('CANCELLED')
    }
    expect(tidegate.logText()).not.toContain('"level":"error"')
    await untilCompleted(await register('shop'))
  })
})
