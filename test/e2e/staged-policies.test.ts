import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { startBundleServer } from '../support/bundle-server.js'
import type { BundleServer } from '../support/bundle-server.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { packFiles } from '../support/make-bundle.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

let workspace: Workspace
let tidegate: TidegateProcess

beforeEach(() => {
  workspace = makeWorkspace()
  write('x := 1')
})
afterEach(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

const APPLICATIONS = Array.from({ length: 12 }, (_, number) => `app-${number}`)
/** A stage that nothing ends by itself. */
const LASTING = { sharePercent: 50, minutes: 60, maxErrors: 1000, maxFlips: 1000 }

function write(...rules: readonly string[]): void {
  workspace.write({ 'policies/app.rego': ['package app', 'import rego.v1', ...rules, ''].join('\n') })
}

async function start(staged: object, { policies = {}, server = {} } = {}): Promise<void> {
  const config = { policies: { staged, ...policies }, server, audit: { decisions: 'none' } }
  tidegate = await startTidegate({ workspace, config })
}

const post = (path: string, body: object = {}): Promise<Answered> => postJson(tidegate.url, path, body)
const get = async (path: string): Promise<Record<string, unknown>> =>
  objectOf(await ask(tidegate.url, { path }))

async function refresh(...rules: readonly string[]): Promise<Record<string, unknown>> {
  write(...rules)
  return objectOf(await post('/policies/refresh'))
}

/** The answers by application: a number, or the status of an error. */
async function decideAll(): Promise<Map<string, unknown>> {
  const answers = new Map<string, unknown>()
  for (const application of APPLICATIONS) {
    const answer = await post('/v1/data/app/x', { input: { application } })
    answers.set(application, answer.status === 200 ? objectOf(answer)['result'] : answer.status)
  }
  return answers
}

/** Decides until the stage has ended. Returns the history then. */
/** Returns the history after a stage; of a promoted one, with its activation, which is stored later. */
async function untilEnded(isPromoted = false): Promise<Record<string, unknown>> {
  return await waitUntil(
    async () => {
      await decideAll()
      const history = await get('/policies/revisions')
      const [newest] = history['revisions'] as readonly { readonly activations: readonly unknown[] }[]
      const isStored = !isPromoted || newest?.activations.length !== 0
      return history['staged'] === undefined && isStored ? history : undefined
    },
    () => `the stage does not end: ${tidegate.logText()}`,
  )
}

async function trail(): Promise<readonly { readonly kind: string; readonly body: unknown }[]> {
  const { records } = await get('/audit?source=policy')
  const all = (records as { readonly seq: number; readonly kind: string }[]).reverse()
  return await Promise.all(
    all.map(async ({ seq, kind }) => ({ kind, body: (await get(`/audit/${seq}`))['body'] })),
  )
}

describe('a new revision of files', () => {
  test('answers its share, each application by one revision, which the log names, until it is promoted', async () => {
    await start({ ...LASTING, minutes: 0, decisions: 30 })
    const { revision: first } = await get('/policies/sources')
    const { staged, revision } = await refresh('x := 2')
    expect([revision, staged]).toEqual([first, expect.objectContaining({ sharePercent: 50 })])
    const second = String((staged as Record<string, unknown>)['revision'])
    const answers = await decideAll()
    expect(new Set(answers.values())).toEqual(new Set([1, 2]))
    const { decisions } = await get('/decisions?limit=12')
    for (const { application, revision: decided } of decisions as Record<string, string>[])
      expect(decided).toBe(answers.get(application ?? '') === 2 ? second : first)
    const metrics = (await ask(tidegate.url, { path: '/metrics' })).text
    for (const each of [String(first), second])
      expect(metrics).toMatch(new RegExp(`tidegate_policy_info\\{bundle="[^"]*",revision="${each}"\\} 0\\.5`))
    const [bundle] = Object.values(
      ((await get('/fleet'))['instances'] as { bundles: Record<string, unknown>[] }[])[0]?.bundles ?? {},
    )
    expect(bundle).toMatchObject({ revision: first, stagedRevision: second })
    const shown = await runTidegate(['policies', 'history', '--url', tidegate.url])
    expect(shown.stdout).toMatch(/answers 50 % since/)
    expect(await untilEnded(true)).toMatchObject({
      revisions: [
        {
          ...{ revision: second, isServing: true, hasServed: true },
          activations: [{ source: 'files', impact: { comparison: 'stage', against: first } }],
        },
        { revision: first },
      ],
    })
    expect([...(await decideAll()).values()]).toEqual(APPLICATIONS.map(() => 2))
    const records = await trail()
    expect(records.map(({ kind }) => kind)).toEqual(['policy.staged', 'policy.promoted', 'policy.activated'])
    expect(records[1]?.body).toMatchObject({ revision: second, previous: first, reason: /other answers/ })
    expect((await ask(tidegate.url, { path: '/metrics' })).text).toContain(
      'tidegate_policy_stages_total{outcome="promoted"} 1',
    )
  })

  test.each([
    ['answers differently', ['x := 2'], 'other answers in'],
    ['cannot be evaluated', ['x := input.application', 'x := 2'], 'new errors in'],
  ])('that %s is taken back by itself, and not staged again', async (_, rules, reason) => {
    await start({ ...LASTING, minutes: 0, decisions: 1000, maxErrors: 2, maxFlips: 2 })
    const { revision: first } = await get('/policies/sources')
    await refresh(...rules)
    const { revisions } = await untilEnded()
    expect(revisions).toMatchObject([
      { hasServed: false, activations: [] },
      { revision: first, isServing: true },
    ])
    expect([...(await decideAll()).values()]).toEqual(APPLICATIONS.map(() => 1))
    const again = objectOf(await post('/policies/refresh'))
    expect(again).toMatchObject({ revision: first, problem: expect.stringContaining(reason) as string })
    expect(again['staged']).toBeUndefined()
    expect(JSON.stringify(await get('/health?plugins'))).toContain('last good ones are in service')
    expect((await trail()).map(({ kind }) => kind)).toEqual(['policy.staged', 'policy.taken_back'])
    // A rollback never chooses a revision that did not serve.
    expect((await post('/policies/rollback')).status).toBe(409)
    const next = await refresh('x := 1', 'y := 3')
    expect(next['staged']).toMatchObject({ sharePercent: 50 })
    expect(next['problem']).toBeUndefined()
  })

  test('is not put into service by the change of a client', async () => {
    const change = async (value: number): Promise<Answered> =>
      await ask(tidegate.url, { method: 'PUT', path: '/v1/data/more', body: String(value) })
    await start({ ...LASTING, maxFlips: 2 }, { policies: { writable: true } })
    expect((await change(1)).status).toBe(204)
    // Nothing has noticed the changed file so far.
    write('x := 2')
    const refused = await change(2)
    expect([refused.status, objectOf(refused)['code']]).toEqual([409, 'policies_staged'])
    expect((await get('/policies/sources'))['staged']).toMatchObject({ sharePercent: 50 })
    await untilEnded()
    expect(objectOf(await change(3))).toMatchObject({
      code: 'revision_taken_back',
      message: expect.stringContaining('correct them') as string,
    })
    expect([...(await decideAll()).values()]).toEqual(APPLICATIONS.map(() => 1))
    write('x := 1')
    expect((await change(4)).status).toBe(204)
  })

  test('replaces another one in its stage, and ends it by going back', async () => {
    await start(LASTING)
    const { revision: first } = await get('/policies/sources')
    const second = (await refresh('x := 2'))['staged']
    const third = (await refresh('x := 3'))['staged']
    expect(third).not.toEqual(second)
    expect(new Set((await decideAll()).values())).toEqual(new Set([1, 3]))
    expect((await refresh('x := nowhere'))['staged']).toEqual(third)
    const back = await refresh('x := 1')
    expect([back['revision'], back['staged'], back['problem']]).toEqual([first, undefined, undefined])
    expect(new Set((await decideAll()).values())).toEqual(new Set([1]))
  })

  test('begins its stage again after a restart, before which the old one serves', async () => {
    await start(LASTING)
    const { revision: first } = await get('/policies/sources')
    const { staged } = await refresh('x := 2')
    await tidegate.end('SIGTERM')
    await start(LASTING)
    const again = await get('/policies/sources')
    expect(again).toMatchObject({ revision: first, staged: { sharePercent: 50 } })
    expect((again['staged'] as { revision: string }).revision).toBe((staged as { revision: string }).revision)
    expect(new Set((await decideAll()).values())).toEqual(new Set([1, 2]))
    await post('/policies/promote')
    await tidegate.end('SIGTERM')
    await start(LASTING)
    expect((await get('/policies/sources'))['staged']).toBeUndefined()
    expect(new Set((await decideAll()).values())).toEqual(new Set([2]))
  })

  test('is promoted or abandoned by an administrator', async () => {
    await start(LASTING)
    for (const path of ['/policies/promote', '/policies/abandon']) expect((await post(path)).status).toBe(409)
    await refresh('x := 2')
    expect((await post('/policies/abandon')).status).toBe(200)
    expect(new Set((await decideAll()).values())).toEqual(new Set([1]))
    expect((await get('/policies/sources'))['problem']).toContain('requested by')
    await refresh('x := 3')
    const promoted = await runTidegate(['policies', 'promote', '--url', tidegate.url])
    expect(promoted.exitCode).toBe(0)
    expect(new Set((await decideAll()).values())).toEqual(new Set([3]))
    expect((await trail()).map(({ kind }) => kind)).toEqual([
      ...['policy.staged', 'policy.taken_back', 'policy.staged', 'policy.promoted', 'policy.activated'],
    ])
  })

  test('answers its share in all worker processes, in equal applications', async () => {
    await start(LASTING, { server: { workers: 2 } })
    await waitUntil(
      async () => (JSON.stringify(await get('/health?plugins')).includes('do not accept') ? undefined : true),
      () => 'the worker process does not start',
    )
    await refresh('x := 2')
    const answers = await decideAll()
    expect(new Set(answers.values())).toEqual(new Set([1, 2]))
    // Each request has a connection of its own, so both processes answer some.
    for (let round = 0; round < 3; round++) expect(await decideAll()).toEqual(answers)
    await post('/policies/abandon')
    for (let round = 0; round < 3; round++)
      expect(new Set((await decideAll()).values())).toEqual(new Set([1]))
    await refresh('x := 3')
    await post('/policies/promote')
    for (let round = 0; round < 3; round++)
      expect(new Set((await decideAll()).values())).toEqual(new Set([3]))
  })
})

describe('pins and stages', () => {
  test('a pin is staged, and a changed file waits for its end', async () => {
    await start(LASTING)
    const { revision: first } = await get('/policies/sources')
    await refresh('x := 2')
    await post('/policies/promote')
    const pinned = objectOf(await post('/policies/pin', { revision: first }))
    expect(pinned).toMatchObject({ staged: { revision: first } })
    expect(pinned['pinned']).toBeUndefined()
    await refresh('x := 3')
    expect(new Set((await decideAll()).values())).toEqual(new Set([1, 2]))
    expect(objectOf(await post('/policies/promote'))).toMatchObject({ pinned: { revision: first } })
    expect(new Set((await decideAll()).values())).toEqual(new Set([1]))
    expect(objectOf(await post('/policies/unpin'))).toMatchObject({ pinned: { revision: first }, staged: {} })
    await post('/policies/promote')
    expect((await get('/policies/revisions'))['pinned']).toBeUndefined()
    expect(new Set((await decideAll()).values())).toEqual(new Set([3]))
  })

  test('a rollback during a stage ends it and pins what serves, immediately', async () => {
    await start(LASTING)
    const { revision: first } = await get('/policies/sources')
    await refresh('x := 2')
    const rolledBack = objectOf(await post('/policies/rollback'))
    expect(rolledBack).toMatchObject({ pinned: { revision: first } })
    expect(rolledBack['staged']).toBeUndefined()
    await refresh('x := 3')
    expect(new Set((await decideAll()).values())).toEqual(new Set([1]))
  })
})

describe('a new bundle of a source', () => {
  let server: BundleServer
  beforeEach(async () => {
    server = await startBundleServer()
  })
  afterEach(() => server.close())

  const publish = async (version: number, rule = `x := ${version}`): Promise<void> =>
    server.publish(
      'main',
      await packFiles({
        '.manifest': JSON.stringify({ revision: `r${version}`, roots: ['app'] }),
        'app.rego': `package app\nimport rego.v1\n${rule}\n`,
      }),
    )
  const startWithSource = (staged: object): Promise<void> =>
    start(staged, {
      policies: {
        directories: [],
        sources: [{ name: 'main', type: 'http', url: server.urlOf('main'), longPollSeconds: 0 }],
      },
    })
  const sourceOf = async (): Promise<Record<string, unknown>> => {
    const { sources, staged } = objectOf(await post('/policies/refresh'))
    return { ...(sources as Record<string, unknown>[])[0], staged }
  }

  test('begins its stage again after a restart, before which the old one serves', async () => {
    await publish(1)
    await startWithSource(LASTING)
    await publish(2)
    expect(await sourceOf()).toMatchObject({ revision: 'r1', staged: { revision: 'r2' } })
    expect(objectOf(await ask(tidegate.url, { path: '/v1/status' }))['result']).toMatchObject({
      bundles: { main: { active_revision: 'r1', staged_revision: 'r2' } },
    })
    await tidegate.end('SIGTERM')
    server.respondBy((_, response) => response.writeHead(503).end())
    await startWithSource(LASTING)
    expect(new Set((await decideAll()).values())).toEqual(new Set([1]))
    server.respondBy(undefined)
    expect(await sourceOf()).toMatchObject({ revision: 'r1', staged: { revision: 'r2' } })
    await post('/policies/promote')
    expect(await sourceOf()).toMatchObject({ revision: 'r2' })
    await tidegate.end('SIGTERM')
    server.respondBy((_, response) => response.writeHead(503).end())
    await startWithSource(LASTING)
    expect(new Set((await decideAll()).values())).toEqual(new Set([2]))
  })

  test('is taken back with the reason at its source, until there is another one', async () => {
    await publish(1)
    await startWithSource({ ...LASTING, maxFlips: 2 })
    await publish(2)
    await sourceOf()
    await untilEnded()
    const taken = await sourceOf()
    expect(taken).toMatchObject({
      revision: 'r1',
      problem: expect.stringContaining('other answers in') as string,
    })
    expect([taken['staged'], new Set((await decideAll()).values())]).toEqual([undefined, new Set([1])])
    await publish(3, 'x := 1')
    expect(await sourceOf()).toMatchObject({ revision: 'r1', staged: { revision: 'r3' } })
    // A broken one ends no stage, and the staged bundle can still begin to serve.
    await publish(4, 'x := nowhere')
    expect(await sourceOf()).toMatchObject({
      problem: expect.stringContaining('compiling') as string,
      staged: { revision: 'r3' },
    })
    await post('/policies/promote')
    expect(await sourceOf()).toMatchObject({ revision: 'r3' })
  })
})

test('stages need the decision log', async () => {
  const config = { policies: { staged: LASTING }, decisions: { enabled: false } }
  const failed = startTidegate({ workspace, config })
  await expect(failed).rejects.toThrow(/policies\.staged compares stored decisions/)
  tidegate = await startTidegate({ workspace })
})
